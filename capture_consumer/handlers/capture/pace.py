"""When what is finished is saved: at most 2 s or 32 pieces behind (BUILD-12, R6)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from capture_consumer.builds.effects import Effects
from capture_consumer.consumer.job import Hold
from capture_consumer.errors import Interrupted

__all__ = ["Pace", "save_what_is_left"]

PIECES_A_SAVE = 32
SAVE_EVERY_S = 2.0


@dataclass(slots=True)
class Pace:
    """Counts pieces and seconds since the last save."""

    elapsed: Callable[[], float]
    saved_s: float
    pieces: int = 0

    def is_due(self) -> bool:
        """Tell whether what is finished has waited long enough."""
        waited = self.elapsed() - self.saved_s >= SAVE_EVERY_S
        return self.pieces >= PIECES_A_SAVE or (self.pieces > 0 and waited)

    def begin_anew(self) -> None:
        """Note that everything has been handed over."""
        self.pieces, self.saved_s = 0, self.elapsed()


def save_what_is_left(hold: Hold[Effects], stop: Interrupted, effects: Effects) -> None:
    """Save what is finished before a job is given back; after a cancel or a loss it is void."""
    if stop.why == "released" and effects:
        with suppress(Interrupted):
            hold.save(effects)
