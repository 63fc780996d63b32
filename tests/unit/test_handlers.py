"""Which handler does the jobs of which kind."""

from typing import Any

import pytest

from capture_consumer.consumer.job import ConsumerJob, KindHandler
from capture_consumer.errors import BadInput
from capture_consumer.handlers import handlers_for, handlers_named
from tests.conftest import HandClock
from tests.fakes import PlainFacts
from tests.fakes_of_capture import Blobs
from tests.plain import a_build

NOTHING_IS_DONE: KindHandler[Any] = KindHandler(lambda job, hold: ())
KINDS = {"noop": lambda job, hold: (), "capture": NOTHING_IS_DONE}


def handlers(*more: str):
    facts = PlainFacts(a_build())
    return handlers_for(facts, Blobs(), None, clock=HandClock(), more=more)


def test_the_kind_capture_is_built_in():
    """JOB-145."""
    assert handlers().keys() == {"capture"}


def test_kinds_of_others_go_before_ours_and_a_function_is_short_for_a_handler():
    """JOB-76."""
    found = handlers("tests.unit.test_handlers:KINDS")

    assert found["capture"] is not handlers()["capture"]
    assert isinstance(found["noop"], KindHandler)


@pytest.mark.parametrize(
    "path",
    ["no.such.module:KINDS", "tests.unit.test_handlers:NO", "tests.plain:AT", "nonsense"],
)
def test_a_path_that_names_no_kinds_says_so(path):
    with pytest.raises(BadInput, match="names no mapping of kinds"):
        handlers_named(path)


@pytest.mark.parametrize(
    ("values", "accepted"),
    [
        ({"step": "plan", "build_id": 1}, True),
        ({"step": "reduce", "build_id": 1}, True),
        ({"step": "shard", "build_id": 1, "shard_id": 1}, True),
        ({"step": "shard", "build_id": 1}, False),
        ({"step": "plan"}, False),
        ({"build_id": 1}, False),
    ],
)
def test_a_capture_job_without_its_build_or_shard_is_malformed(values, accepted):
    """JOB-79."""
    accepts = handlers()["capture"].accepts
    job = ConsumerJob(job_id="x", kind="capture", attempt=1, owner="me", **values)

    assert accepts
    assert accepts(job) is accepted
