"""One real Storybook, built twice with known differences: exactly these come out.

The folders are looked for in CAPTURE_TEST_DATA, else in `../shared/data` beside the project.
"""

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.whole.house import House, outcomes_of

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CAPTURE_TEST_DATA") or ROOT.parent / "shared" / "data")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (DATA / "storybook-v2").is_dir(),
        reason=f"no real Storybooks in {DATA}: name their folder in CAPTURE_TEST_DATA",
    ),
]

ERRORED = {
    "interaction-form--failing-assertion",
    "unstable-errors--throws-in-effect",
    "unstable-errors--throws-in-loader",
    "unstable-errors--throws-in-play",
    "unstable-errors--throws-on-render",
}
DIFFERENT = {
    "components-button--all-kinds": "changed",
    "components-button--danger": "changed",
    "components-button--ghost": "new",
    "components-button--long-label": "removed",
    "components-table--hundred": "changed",
    "components-table--one-cell": "changed",
    "foundations-graphics--logo": "errored",
    "foundations-typography--gradient": "changed",
}
NEVER_AT_REST = {"motion-animation--canvas-raf", "motion-animation--marquee"}


def test_of_two_builds_of_a_real_storybook_exactly_the_known_differences_come_out(
    house: House,
) -> None:
    """BUILD-56, BUILD-61, BUILD-62, CAP-38."""
    house.start(consumers=2)
    first = house.wait_for_end(house.submit(str(DATA / "storybook-v1")), within_s=280)
    second = house.wait_for_end(house.submit(str(DATA / "storybook-v2")), within_s=280)
    one, two = outcomes_of(first), outcomes_of(second)

    assert (first["verdict"], first["baseline"]["reason"]) == ("broken", "first_build")
    assert {story for story, outcome in one.items() if outcome == "errored"} == ERRORED
    assert {one[story] for story in NEVER_AT_REST} <= {"new", "unstable"}
    assert Counter(one.values())["new"] >= 110
    assert second["verdict"] == "broken"
    restless = {story: two.pop(story) for story in NEVER_AT_REST}
    assert set(restless.values()) <= {"unstable", "unchanged", "new"}
    assert {s: o for s, o in two.items() if o != "unchanged"} == DIFFERENT | dict.fromkeys(
        ERRORED, "errored"
    )
    assert house.stop() == 0
    assert house.ours() == []
