"""Suspects run alone on their host."""

import pytest

from tests.processes.stage import wait_for

pytestmark = pytest.mark.processes


def test_a_suspect_waits_for_the_others_and_runs_alone(stage):
    """SUP-41."""
    stage.start(consumers=3)
    stage.job("held", ["until", "go"])
    stage.holder("held")

    stage.job("suspect", ["until", "on"])
    stage.job("later", ["story", "x"])
    wait_for(lambda: stage.done("later") or not stage.done("held"))
    assert not (stage.folder / "claimed" / "suspect").exists()
    stage.touch("go")
    stage.holder("suspect")
    stage.job("waits", ["story", "x"])
    stage.touch("on")

    wait_for(lambda: stage.done("suspect"))
    wait_for(lambda: stage.done("waits"))
    order = stage.folder / "done"
    assert (order / "held").stat().st_mtime_ns <= (order / "suspect").stat().st_mtime_ns


def test_a_suspect_that_kills_its_consumer_lets_the_others_go_on(stage):
    """SUP-41, SUP-44."""
    stage.start(consumers=2)

    stage.job("suspect", ["story", "poison"], ["signal", "SIGKILL"])
    assert stage.death("suspect")["story"] == "poison"
    stage.job("other", ["story", "x"])

    wait_for(lambda: stage.done("other"))
    assert len(stage.deaths()) == 1


def test_the_only_consumer_is_granted_its_host_at_once(stage):
    """SUP-41."""
    stage.start(consumers=1)

    stage.job("suspect", ["story", "x"])

    wait_for(lambda: stage.done("suspect"))
