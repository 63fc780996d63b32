"""How long a consumer waits before it polls again."""

import pytest

from capture_consumer.consumer.cadence import Cadence


@pytest.mark.parametrize(
    ("since_seen_ms", "draw", "delay_ms"),
    [
        (None, 0.0, 15_000),
        (0.0, 0.0, 2_000),
        (59_999.0, 0.0, 2_000),
        (60_000.0, 0.0, 15_000),
        (0.0, 0.5, 2_200),
        (None, 0.999999, 18_000),
        (None, 7.0, 18_000),
        (None, -1.0, 15_000),
    ],
)
def test_it_is_short_while_work_was_seen_and_chance_only_stretches_it(
    since_seen_ms, draw, delay_ms
):
    """JOB-20, JOB-22, Q-53."""
    assert Cadence().delay_ms(since_seen_ms, draw) == delay_ms


@pytest.mark.parametrize(
    "wrong", [{"idle_ms": 0}, {"active_ms": 2**31}, {"active_window_ms": 0}, {"jitter": 2.0}]
)
def test_a_number_that_makes_no_sense_is_refused_by_its_name(wrong):
    """COM-13."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Cadence(**wrong)
