"""The reap, and the chores whose time has come (JOB-151, JOB-160, SUP-85).

Every clerk reaps; a chore is done by whoever moves its time forward. One that fails is
logged and comes again at its next time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import structlog

from capture_consumer.clock import Clock
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import again, reading, transaction
from capture_consumer.errors import DatabaseAway
from capture_consumer.records import overdue
from capture_consumer.tables import chores

__all__ = ["Chore", "Sweep"]

CHECK_MS = 60_000

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Chore:
    """A periodic task that one clerk of all does."""

    every_ms: int
    do: Callable[[], object]


@dataclass
class Sweep:
    """One clerk's reap and chores.

    `reap` ends attempts whose lease is over and returns how many. More chores may be
    given beside those for builds that do not move.
    """

    engine: Engine
    clock: Clock
    reap: Callable[[], int]
    chores: Mapping[str, Chore] = field(default_factory=dict)

    def run(self) -> bool:
        """Reap, then do every chore that is due; never more at once than there is."""
        for name, do in (("reap", self.reap), ("chores", self.do_chores)):
            try:
                do()
            except DatabaseAway as error:
                log.warning("sweep.database_away", part=name, error=str(error))
            except Exception:
                log.exception("sweep.failed", part=name)
        return False

    def do_chores(self) -> None:
        """Do what is due and ours."""
        for name, chore in {"overdue": Chore(CHECK_MS, self.look_after), **self.chores}.items():
            with transaction(self.engine) as tx:
                ours = chores.take(tx, name, every_ms=chore.every_ms, now=self.clock.now())
            if ours:
                chore.do()

    def look_after(self) -> None:
        """Mend what is overdue, one build a transaction."""
        with reading(self.engine) as tx:
            late = overdue.found(tx, now=self.clock.now())
        for one in late:
            again(self.engine, partial(overdue.mend, one=one, now=self.clock.now()))
