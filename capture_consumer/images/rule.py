"""When two pictures count as changed: the dials of a project (CAP-30, CAP-31)."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final

__all__ = ["Rule"]

# Goes up whenever the same dials would judge the same pixels in another way.
EDITION: Final = 1


@dataclass(frozen=True, slots=True)
class Rule:
    """The dials; one that stands at 0 is not looked at.

    - `threshold`: from which YIQ distance a pixel differs; 0 to 1, where 1 is black to white
    - `strict`: any difference counts, that of one level of one channel and anti-aliasing too
    - `max_pixels`: how many pixels may differ
    - `max_ratio`: which share of the picture may differ, 0 to 1
    - `max_block`: how many of the 256 pixels of any 16 x 16 square may differ

    Of the last three, those that are set must each hold; if none is, one pixel is
    enough. Sizes that differ are always a change.
    """

    threshold: float = 0.063
    max_pixels: int = 0
    max_ratio: float = 0.0
    max_block: int = 0
    strict: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or not 0 <= self.max_ratio <= 1:
            raise ValueError("threshold and max_ratio lie between 0 and 1")
        if self.max_pixels < 0 or not 0 <= self.max_block <= 256:
            raise ValueError("max_pixels is 0 or more, max_block between 0 and 256")

    @property
    def sha(self) -> str:
        """Return the hash that a cached comparison is kept under."""
        dials = json.dumps({"edition": EDITION, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(dials.encode()).hexdigest()

    def allows(self, *, changed_px: int, ratio: float, densest_block: int) -> bool:
        """Tell whether so much difference is still no change."""
        if not (self.max_pixels or self.max_ratio or self.max_block):
            return changed_px == 0
        return (
            (not self.max_pixels or changed_px <= self.max_pixels)
            and (not self.max_ratio or ratio <= self.max_ratio)
            and (not self.max_block or densest_block <= self.max_block)
        )
