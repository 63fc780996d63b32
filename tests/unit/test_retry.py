"""How long to wait before the next try."""

import pytest

from capture_consumer.consumer.job import Backoff
from capture_consumer.consumer.retry import delay_ms, half_jittered_ms


@pytest.mark.parametrize(
    ("failures", "wanted"),
    [(0, 5_000), (1, 10_000), (2, 20_000), (6, 300_000), (10_000, 300_000)],
)
def test_the_wait_doubles_and_is_capped_also_at_the_ten_thousandth_retry(failures, wanted):
    """JOB-89, JOB-90, Q-57."""
    assert delay_ms(Backoff(), failures) == wanted


def test_it_can_be_stretched_by_a_fraction():
    """JOB-90."""
    assert delay_ms(Backoff(), 0, stretch=0.5) == 7_500


@pytest.mark.parametrize(("draw", "wanted"), [(0.0, 1_000), (0.5, 1_500), (0.999, 1_999)])
def test_a_jittered_wait_lies_in_the_upper_half(draw, wanted):
    """LIFE-36."""
    assert half_jittered_ms(Backoff(2_000, 300_000), 0, draw=draw) == wanted
