"""Hooks are pure: a payload and a build as it is now give effects."""

from dataclasses import replace

import pytest

from capture_consumer.builds.effects import CancelJobs, GiveUp, SupersedeOlder
from capture_consumer.builds.phases import ENDS, OPEN, hooks_of
from capture_consumer.hooks import HOOKS
from tests.plain import a_build

TOPIC = a_build(ref="topic", branch="topic", phase="pending")
GIVEN_UP = {"kind": "capture", "shard_id": 7, "code": "lost", "text": "lost 5 times"}


def test_every_hook_that_a_move_asks_for_is_known():
    """LIFE-24."""
    asked = {hook for phase in (*OPEN, *ENDS) for hook in hooks_of(phase)}

    assert asked <= set(HOOKS)


@pytest.mark.parametrize("phase", [*OPEN, "finished"])
def test_a_build_of_a_topic_supersedes_the_older_ones(phase):
    """BUILD-90."""
    asked = HOOKS["supersede_older"]({}, replace(TOPIC, phase=phase))

    assert asked == (SupersedeOlder(TOPIC.id),)


@pytest.mark.parametrize("phase", ["failed", "cancelled", "superseded", "expired"])
def test_a_build_that_came_to_nothing_supersedes_nobody(phase):
    """LIFE-44."""
    assert HOOKS["supersede_older"]({}, replace(TOPIC, phase=phase)) == ()


@pytest.mark.parametrize(
    "project",
    [
        {"supersede": False},
        {"default_branch": "topic"},
        {"accept_branches": ("topic",)},
        {"protected_branches": ("x", "topic")},
    ],
)
def test_a_branch_of_which_every_build_counts_is_never_superseded(project):
    """BUILD-91, B-15."""
    kept = replace(TOPIC, project=replace(TOPIC.project, **project))

    assert HOOKS["supersede_older"]({}, kept) == ()


def test_a_pull_request_from_a_fork_whose_head_is_called_main_is_superseded():
    """BUILD-91."""
    pull = replace(TOPIC, ref="pr/12", pull=12, branch="main")

    assert HOOKS["supersede_older"]({}, pull) == (SupersedeOlder(pull.id),)


@pytest.mark.parametrize("phase", ["failed", "cancelled", "superseded", "expired"])
def test_stragglers_of_an_ended_build_are_cancelled(phase):
    """BUILD-16."""
    build = a_build(phase=phase)

    assert HOOKS["cancel_jobs"]({}, build) == (CancelJobs(build.id),)


@pytest.mark.parametrize("phase", [*OPEN, "finished"])
def test_jobs_of_a_build_that_goes_on_are_left_alone(phase):
    assert HOOKS["cancel_jobs"]({}, a_build(phase=phase)) == ()


@pytest.mark.parametrize("phase", OPEN)
@pytest.mark.parametrize("shard_id", [7, None])
def test_a_capture_job_that_was_given_up_gives_up_its_shard_or_its_build(phase, shard_id):
    """JOB-118, JOB-119, JOB-123, JOB-70."""
    build = a_build(phase=phase)

    asked = HOOKS["job_exhausted"](GIVEN_UP | {"shard_id": shard_id}, build)

    assert asked == (GiveUp(build.id, shard_id, "lost", "lost 5 times"),)


@pytest.mark.parametrize("phase", ENDS)
def test_a_job_of_an_ended_build_is_given_up_in_silence(phase):
    """JOB-117."""
    assert HOOKS["job_exhausted"](GIVEN_UP, a_build(phase=phase)) == ()


@pytest.mark.parametrize("kind", ["publish", "notify", None])
def test_a_job_of_another_kind_fails_alone(kind):
    """R1."""
    assert HOOKS["job_exhausted"](GIVEN_UP | {"kind": kind}, a_build(phase="pending")) == ()
