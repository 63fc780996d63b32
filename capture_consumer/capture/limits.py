"""How long each step of a story may take (CAP-17, CAP-18), and how large it may be."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one story, in milliseconds and pixels.

    Over `load`, `render`, `play`, `settle` or `shot` the story is errored, with the step's
    name in the code; over the others it is judged as it is, with a warning.
    """

    load_ms: int = 15_000
    render_ms: int = 15_000
    play_ms: int = 15_000
    settle_ms: int = 10_000
    shot_ms: int = 10_000
    fonts_ms: int = 3_000
    images_ms: int = 3_000
    timers_ms: int = 1_500
    pixels_max: int = 40_000_000
    side_max: int = 16_384

    def of_step(self, step: str) -> int:
        """Return the milliseconds that this step may take."""
        cap: int = getattr(self, f"{step}_ms")
        return cap
