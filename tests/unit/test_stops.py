"""What a stop of each kind does to the job in hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from capture_consumer.ipc import messages
from capture_consumer.wiring.orders import Orders
from capture_consumer.wiring.reports import Reports


@pytest.fixture
def told() -> list[str]:
    """Return what was asked of job and browser."""
    return []


@pytest.fixture
def orders(told: list[str]) -> Orders:
    """Return orders over a consumer that holds nothing and talks to nobody."""
    return Orders(
        Reports(None, lambda: 0.0),
        lambda: told.append("let go"),
        lambda: told.append("browser killed"),
    )


def test_a_recycle_claims_nothing_more_and_finishes_what_is_claimed(orders, told):
    """SUP-51, JOB-112."""
    orders.hear(messages.Recycle())

    assert orders.stopping.is_set()
    assert not orders.draining.is_set()
    assert told == []


def test_a_drain_releases_what_is_claimed_and_not_begun(orders, told):
    """JOB-112, SUP-58."""
    orders.hear(messages.Drain(soft_deadline_s=3600.0))

    assert orders.stopping.is_set()
    assert orders.draining.is_set()
    assert told == []


def test_a_drain_lets_a_job_go_whose_stories_do_not_fit(orders, told):
    """SUP-54: 2 of 12 stories took 10 s, so 50 s are left, and 20 s is all there is."""
    seconds = iter([0.0, 10.0, 10.0])
    orders.reports.elapsed = lambda: next(seconds)
    job: Any = SimpleNamespace(job_id="shard:1:0")
    orders.reports.claimed(job)
    orders.reports.story(job, "a", snapshot_id=1, index=2, of=12, deadline_s=9.0)

    orders.hear(messages.Drain(soft_deadline_s=20.0))

    assert told == ["let go"]


@pytest.mark.parametrize("order", [messages.Hurry(), messages.ParentGone()])
def test_a_hurry_and_a_lost_parent_abandon_the_story(orders, told, order):
    """SUP-22, SUP-55, SUP-66."""
    orders.hear(order)

    assert orders.draining.is_set()
    assert told == ["let go", "browser killed"]
