"""Suspects run alone: who asks, who stands back, when all go on (pure; SUP-41, SUP-43)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from capture_consumer.ipc import messages as say

__all__ = ["Member", "Turns"]

CLAIM_WAIT_S = 15.0

Orders = list[tuple[int, say.Order]]


@dataclass(frozen=True, slots=True)
class Member:
    """What counts of one living consumer. `quiet_since`: it has held nothing since then.

    `claims` counts all that it ever claimed; one that is `leaving` finishes what it holds.
    """

    slot: int
    ready: bool
    holding: bool
    said_paused: bool = False
    quiet_since: float = 0.0
    asks: bool = False
    claims: int = 0
    leaving: bool = False


@dataclass(slots=True)
class Turns:
    """One turn alone after the other.

    A consumer that answers PAUSE is believed at once; one that says nothing (an older
    release) is taken to stand back when it has held nothing for `quiet_s` since.
    """

    gap_s: float
    quiet_s: float
    looker: int | None = None
    turn: Literal["none", "waiting", "granted", "claimed"] = "none"
    guest: int | None = None
    since: float = 0.0
    claims: int = 0
    ended_at: float | None = None
    paused: set[int] = field(default_factory=set)

    def look(self, members: Iterable[Member], now: float, *, draining: bool) -> Orders:
        """Return the orders that follow from how things stand."""
        here = {member.slot: member for member in members}
        self.paused &= set(here)
        orders = self.appoint(here)
        guest = here.get(self.guest) if self.guest is not None else None
        if guest is not None and guest.leaving and not guest.holding:
            guest = None
        if self.turn == "none":
            orders += self.ask(here, now, draining=draining)
        elif guest is None or (draining and self.turn == "waiting"):
            orders += self.end(here, now, denied=guest is not None)
        else:
            orders += self.go_on(here, guest, now)
        return orders

    def appoint(self, here: dict[int, Member]) -> Orders:
        """Have the lowest living slot that is ready look for suspects."""
        able = (slot for slot, one in here.items() if one.ready and not one.leaving)
        lowest = min(able, default=None)
        if lowest == self.looker:
            return []
        changed = ((self.looker, False), (lowest, True))
        self.looker = lowest
        return [
            (slot, say.Suspects(on=on))
            for slot, on in changed
            if slot in here and slot is not None
        ]

    def renewed(self, slot: int) -> None:
        """Note that a slot has a new process, which was told nothing yet."""
        self.paused.discard(slot)
        if self.looker == slot:
            self.looker = None

    def ask(self, here: dict[int, Member], now: float, *, draining: bool) -> Orders:
        """Begin a turn for whoever asks, unless the others must work first."""
        asking = min(
            (slot for slot, one in here.items() if one.asks and not one.leaving), default=None
        )
        if asking is None:
            return []
        if draining:
            return [(asking, say.Denied())]
        if self.ended_at is not None and now - self.ended_at < self.gap_s and len(here) > 1:
            return []
        self.turn, self.guest, self.since = "waiting", asking, now
        return self.go_on(here, here[asking], now)

    def go_on(self, here: dict[int, Member], guest: Member, now: float) -> Orders:
        """Keep the others back; grant the host, and see the end of the turn."""
        others = [member for slot, member in here.items() if slot != guest.slot]
        orders: Orders = [(m.slot, say.Pause()) for m in others if m.slot not in self.paused]
        self.paused |= {member.slot for member in others}
        if self.turn == "waiting" and all(self.stands_back(member, now) for member in others):
            self.turn, self.since, self.claims = "granted", now, guest.claims
            orders.append((guest.slot, say.Granted()))
            return orders
        if self.turn == "granted" and guest.claims > self.claims:
            self.turn = "claimed"
        if self.is_over(guest, now):
            orders += self.end(here, now)
        return orders

    def is_over(self, guest: Member, now: float) -> bool:
        """Return whether the guest's job has ended, or was never claimed.

        Claims are counted, because between two looks a job may come and go, and an
        ordinary one follow it at once.
        """
        if self.turn == "claimed":
            return not guest.holding or guest.claims > self.claims + 1
        return self.turn == "granted" and now - self.since > CLAIM_WAIT_S

    def stands_back(self, member: Member, now: float) -> bool:
        """Return whether a consumer holds nothing and will claim nothing.

        One that asks for the host itself waits for our answer, and hears no PAUSE meanwhile.
        """
        if member.holding:
            return False
        if not member.ready or member.said_paused or member.asks:
            return True
        return now - max(self.since, member.quiet_since) >= self.quiet_s

    def end(self, here: dict[int, Member], now: float, *, denied: bool = False) -> Orders:
        """End the turn: all go on."""
        orders: Orders = [(slot, say.Resume()) for slot in sorted(self.paused & set(here))]
        if denied and self.guest is not None:
            orders.append((self.guest, say.Denied()))
        self.turn, self.guest, self.ended_at = "none", None, now
        self.paused.clear()
        return orders
