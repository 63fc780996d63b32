"""From submit to verdict, review and report."""

import pytest

from tests.storybooks import tiny
from tests.whole.house import House, outcomes_of, wait_for

pytestmark = [
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.slow,
    pytest.mark.timeout(300),
]

BUTTON, CARD, TABLE = "button--primary", "card--plain", "table--ten"


def test_two_builds_come_to_their_verdicts_and_a_person_answers(house: House) -> None:
    """BUILD-18, BUILD-56, BUILD-61, BUILD-62, BUILD-82, BUILD-122."""
    first = [tiny.still(BUTTON), tiny.still(CARD), tiny.still(TABLE), tiny.throws("bad--one")]
    second = [tiny.still(BUTTON, colour="#c00000"), tiny.still(CARD), tiny.still("menu--new")]

    house.start(consumers=2)
    house.run("submit", house.storybook("v1", first), "--project", "shop", code=3)
    house.run("submit", house.storybook("v2", second), "--project", "shop", code=1)
    one, two = house.show("shop/1"), house.show("shop/2")

    assert (one["verdict"], one["baseline"]["reason"]) == ("broken", "first_build")
    assert outcomes_of(one) == {
        BUTTON: "new",
        CARD: "new",
        TABLE: "new",
        "bad--one": "errored",
    }
    assert {s["review"] for s in one["snapshots"] if s["outcome"] == "new"} == {"accepted"}
    assert (two["verdict"], two["baseline"]["build"]) == ("needs_review", 1)
    assert outcomes_of(two) == {
        BUTTON: "changed",
        CARD: "unchanged",
        TABLE: "removed",
        "menu--new": "new",
    }

    house.run("review", "shop/2", "--accept", "button--*", code=1)
    house.run("review", "shop/2", "--accept", "*")
    house.run("report", "shop/2", "--html", "report")
    page = (house.folder / "report" / "index.html").read_text(encoding="utf-8")

    assert house.show("shop/2")["verdict"] == "accepted"
    assert BUTTON in page
    assert house.stop() == 0
    wait_for(lambda: not house.ours(), "every process to be gone", within_s=15)


def test_two_projects_share_two_consumers_and_a_third_build_passes(house: House) -> None:
    """BUILD-2, JOB-132, B-9."""
    stories = [tiny.still(f"item--{number}") for number in range(12)]
    folder = house.storybook("v1", stories)

    builds = [house.submit(folder, project=name) for name in ("left", "right")]
    house.start(consumers=2)
    ended = [house.wait_for_end(build) for build in builds]
    again = house.submit(folder, project="left")
    passed = house.wait_for_end(again)

    assert [one["verdict"] for one in ended] == ["accepted", "accepted"]
    assert passed["verdict"] == "passed"
    assert set(outcomes_of(passed).values()) == {"unchanged"}
    assert house.rows("SELECT count(*) FROM jobs WHERE step = 'reduce'")[0][0] == 3
    assert set(house.ends()) == {"done"}
