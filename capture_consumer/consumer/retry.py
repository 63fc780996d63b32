"""How long to wait before the next try: doubling, capped, stretched at random if asked.

Pure: chance is handed in.
"""

from capture_consumer.consumer.job import Backoff

__all__ = ["delay_ms", "half_jittered_ms"]

EXPONENT_MAX = 30


def delay_ms(backoff: Backoff, failures: int, *, stretch: float = 0.0) -> int:
    """Return the wait after a failure, in milliseconds (JOB-89, JOB-90).

    It is base * 2^failures, at most the maximum. `failures` counts those before this one,
    so that the first wait is the base; `stretch` (0.0 to 1.0) makes it that much longer.
    """
    assert failures >= 0
    assert 0.0 <= stretch <= 1.0
    doubled: int = backoff.base_ms * (1 << min(failures, EXPONENT_MAX))
    return round(min(doubled, backoff.max_ms) * (1 + stretch))


def half_jittered_ms(backoff: Backoff, failures: int, *, draw: float) -> int:
    """Return a wait in the upper half of `delay_ms`, so that many retries spread (LIFE-36).

    `draw` is uniform in [0, 1).
    """
    whole = delay_ms(backoff, failures)
    return round(whole * (0.5 + draw / 2))
