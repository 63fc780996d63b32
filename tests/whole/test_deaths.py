"""Whoever dies, the build comes to the same end."""

import os
import signal

import pytest

from tests.storybooks import tiny
from tests.whole.house import House, outcomes_of, wait_for

pytestmark = [
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.slow,
    pytest.mark.timeout(300),
]

STORIES = 14


def slow_book(house: House) -> str:
    """Write stories that take long enough to be interrupted."""
    return house.storybook("slow", [tiny.slow(f"item--{n:02}", 400) for n in range(STORIES)])


def saved(house: House) -> int:
    """Return how many snapshots are captured and saved."""
    return int(house.rows("SELECT count(*) FROM snapshots WHERE state = 'captured'")[0][0])


def assert_as_undisturbed(house: House, build: str) -> None:
    """Check that all stories were captured, and none that was saved a second time."""
    told = house.wait_for_end(build)
    assert told["verdict"] == "accepted", told
    assert set(outcomes_of(told).values()) == {"new"}
    assert len(told["snapshots"]) == STORIES
    captured_twice = house.rows(
        "SELECT snapshot_id FROM tries GROUP BY snapshot_id HAVING count(DISTINCT attempt) > 1"
    )
    assert captured_twice == []


def test_a_consumer_killed_in_mid_shard_costs_nothing_that_was_saved(house: House) -> None:
    """BUILD-12, BUILD-33, BUILD-81, SUP-17, S-1, S-46, L2."""
    build = house.submit(slow_book(house))
    house.start(consumers=2)
    wait_for(lambda: saved(house) >= 3, "something saved")
    victim = wait_for(lambda: house.holder_of("shard:1:0"), "a holder")

    os.kill(victim, signal.SIGKILL)

    assert_as_undisturbed(house, build)
    assert "crashed" in house.ends("shard:%")
    assert house.stop() == 0
    wait_for(lambda: not house.ours(), "every process to be gone", within_s=15)


def test_a_killed_supervisor_takes_its_house_along_and_the_next_one_goes_on(
    house: House,
) -> None:
    """SUP-33, SUP-66, S-9, S-29, Q-27."""
    build = house.submit(slow_book(house))
    house.start(consumers=2)
    wait_for(lambda: saved(house) >= 3, "something saved")

    assert house.supervisor is not None
    house.supervisor.kill()
    house.supervisor.wait()
    wait_for(lambda: not house.ours(), "everything of it to be gone", within_s=30)
    house.start(consumers=2)

    assert_as_undisturbed(house, build)
    assert house.stop() == 0


def test_after_everything_was_killed_the_next_start_finishes_the_build(house: House) -> None:
    """SUP-33, Q-19, Q-28, S-9, S-43."""
    build = house.submit(slow_book(house))
    house.start(consumers=2)
    wait_for(lambda: saved(house) >= 3, "something saved")

    house.kill_all()
    house.start(consumers=2)

    assert_as_undisturbed(house, build)
    assert "lost" in house.ends("shard:%")
    assert house.stop() == 0
    wait_for(lambda: not house.ours(), "every process to be gone", within_s=15)


def test_a_drain_releases_the_job_uncounted_and_the_next_start_finishes_it(
    house: House,
) -> None:
    """JOB-113, JOB-141, SUP-54, SUP-58, SUP-60, Q-30, S-10, S-14, L3."""
    book = house.storybook("slow", [tiny.slow(f"item--{n:02}", 1500) for n in range(STORIES)])
    build = house.submit(book)
    house.start(consumers=1, grace=10)
    wait_for(lambda: saved(house) >= 2, "something saved")

    code = house.stop()

    assert code == 0
    assert house.ours() == []
    ends = house.ends("shard:%")
    assert "released" in ends
    assert set(ends) <= {"released", "done"}
    house.start(consumers=2)
    assert_as_undisturbed(house, build)


def test_a_story_that_kills_its_consumer_twice_is_recorded_and_the_shard_goes_on(
    house: House,
) -> None:
    """BUILD-36, JOB-126, SUP-27, SUP-45, S-45."""
    stories = [tiny.still(f"item--{n}") for n in range(4)]
    stories.insert(1, tiny.slow("poison--cup", 4000))
    build = house.submit(house.storybook("poison", stories))
    house.start(consumers=1)

    def drinker() -> int | None:
        slots = house.health()["slots"]
        return next((one["pid"] for one in slots if one["story"] == "poison--cup"), None)

    first = wait_for(drinker, "the story in hand")
    os.kill(first, signal.SIGKILL)
    second = wait_for(lambda: (pid := drinker()) != first and pid, "the story in hand again")
    os.kill(second, signal.SIGKILL)
    told = house.wait_for_end(build)

    assert told["verdict"] == "broken"
    assert outcomes_of(told) == {
        "poison--cup": "errored",
        **{f"item--{n}": "new" for n in range(4)},
    }
    poisoned = next(one for one in told["snapshots"] if one["story_id"] == "poison--cup")
    assert "SIGKILL" in poisoned["message"]
    assert house.ends("shard:%") == ["crashed", "crashed", "done"]


def test_a_job_that_kills_its_consumer_each_time_fails_its_build_alone(house: House) -> None:
    """JOB-115, JOB-118, JOB-157, SUP-27, SUP-32, Q-16, S-8."""
    many = [tiny.still(f"item--{n}", "x") for n in range(9_000)]
    doomed = house.submit(house.storybook("many", many), project="doomed")
    neighbour = house.submit(
        house.storybook("few", [tiny.still("item--1"), tiny.still("item--2")]), project="fine"
    )
    house.start(consumers=2)
    killed: set[int] = set()

    def three_dead() -> bool:
        pid = house.holder_of("plan:1")
        if pid is not None and pid not in killed:
            killed.add(pid)
            os.kill(pid, signal.SIGKILL)
        return len(killed) == 3

    wait_for(three_dead, "three deaths of the plan")
    told, unharmed = house.wait_for_end(doomed), house.wait_for_end(neighbour)

    assert (told["phase"], told["verdict"]) == ("failed", None)
    assert "SIGKILL" in str(told["error"])
    assert unharmed["verdict"] == "accepted"
    assert house.ends("plan:1") == ["crashed", "crashed", "crashed"]
