"""The eye: bytes in, numbers out.

Read `decode` first, then `compare`:

- `png`, `decode`: bytes to pixels, guarded; what is refused and why
- `fingerprint`: the hash that makes two pictures one
- `rule`, `colour`: when pictures and when pixels count as different
- `compare`, `align`: two pictures to numbers, with rows that moved side by side
- `mask`: the picture of a difference
- `check`: whether all this works on this machine

This room knows no story, no store and no queue.
"""

__all__: list[str] = []
