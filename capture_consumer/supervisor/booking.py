"""What the clerk has to book, what it was told, what it has acknowledged (SUP-31, SUP-33)."""

from pathlib import Path

from capture_consumer.ipc import messages as say
from capture_consumer.supervisor.spool import Spool

__all__ = ["Booking"]

WINDOW = 8


class Booking:
    """Deaths in their order, a few at a time; OLD after those of earlier incarnations."""

    def __init__(self, spool: Spool, folder: Path) -> None:
        self.spool = spool
        self.folder = folder
        self.told: set[int] = set()
        self.old: tuple[str, ...] | None = None
        self.old_after = 0
        self.old_told = False
        self.old_booked = False
        self.acks = 0

    def end_old(self, incarnations: tuple[str, ...]) -> None:
        """Have these ended, once every death that is written down by now was told."""
        self.old = incarnations
        self.old_after = self.spool.last

    def new_clerk(self) -> None:
        """Begin anew: a clerk that has just come up was told nothing."""
        self.told.clear()
        self.old_told = False

    def orders(self) -> list[say.Order]:
        """Return what the clerk is to be told now."""
        orders: list[say.Order] = []
        for n, facts in self.spool.open_deaths.items():
            if len(self.told) >= WINDOW:
                break
            if n not in self.told:
                self.told.add(n)
                orders.append(say.Death(n, facts))
        if self.old is not None and not self.old_told and self.all_told(self.old_after):
            self.old_told = True
            orders.append(say.Old(self.old))
        return orders

    def all_told(self, up_to: int) -> bool:
        """Return whether each death up to this number has been told or booked."""
        return all(n in self.told for n in self.spool.open_deaths if n <= up_to)

    def acknowledged(self, n: int) -> None:
        """Note what the clerk has booked; its trace file has been read."""
        self.acks += 1
        if n == 0:
            self.old_booked = True
            return
        self.told.discard(n)
        facts = self.spool.acknowledged(n)
        if facts and facts.get("trace"):
            (self.folder / str(facts["trace"])).unlink(missing_ok=True)

    @property
    def is_clear(self) -> bool:
        """Return whether nothing is left to book."""
        return not self.spool.open_deaths and (self.old is None or self.old_booked)
