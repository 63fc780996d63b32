"""Handlers as they are given, by kind."""

import pytest

from capture_consumer.consumer.job import KindHandler
from capture_consumer.consumer.kinds import resolved
from tests.queueing import nothing


def run(job, hold):
    return ()


def test_a_function_stands_for_a_handler_with_only_run():
    """JOB-76."""
    assert resolved({"k": run})["k"] == KindHandler(run=run)


def test_a_name_is_imported():
    """Section B: with exec, handlers reach other processes only by name."""
    assert resolved({"k": "tests.queueing:nothing"})["k"].run is nothing


@pytest.mark.parametrize("given", ["tests.queueing", "tests.queueing:no", "no.such:x", 7])
def test_what_leads_nowhere_is_refused_with_its_kind(given):
    with pytest.raises(ValueError, match="kind k"):
        resolved({"k": given})
