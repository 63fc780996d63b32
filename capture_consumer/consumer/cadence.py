"""How long until the next poll: often while there was work lately, else seldom (JOB-20).

Pure: time and chance are handed in.
"""

from dataclasses import dataclass

__all__ = ["Cadence"]

JITTER_MAX = 0.999999
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Cadence:
    """When to poll. Jitter only stretches, so instances started together drift apart.

    Raises:
        ValueError: a number is out of its range; the text names it (COM-13).
    """

    idle_ms: int = 15_000
    active_ms: int = 2_000
    active_window_ms: int = 60_000
    jitter: float = 0.2

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("idle_ms", "active_ms", "active_window_ms"):
            if not 1 <= getattr(self, name) <= LARGEST:
                raise ValueError(f"{name} must be from 1 to {LARGEST}")
        if not 0.0 <= self.jitter <= 1.0:
            raise ValueError("jitter must be from 0 to 1")

    def delay_ms(self, since_seen_ms: float | None, draw: float) -> int:
        """Return the wait before the next poll.

        Args:
            since_seen_ms: how long ago work was seen, by a poll or by an enqueue of our
                own (JOB-21); None when it never was.
            draw: uniform in [0, 1).
        """
        is_active = since_seen_ms is not None and since_seen_ms < self.active_window_ms
        pace_ms = self.active_ms if is_active else self.idle_ms
        return round(pace_ms * (1 + self.jitter * min(max(draw, 0.0), JITTER_MAX)))
