"""A real Storybook of 118 awkward stories, taken three times: each comes out as it must.

The folder is named by CAPTURE_TEST_DATA, else it is `../shared/data` beside the project.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from capture_consumer.builds.identity import DEFAULT_MODE
from capture_consumer.capture.shutter import Camera
from capture_consumer.capture.storybook import read_index
from capture_consumer.images.decode import decode
from capture_consumer.images.fingerprint import pixel_sha
from tests.storybooks.files import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from capture_consumer.capture.browser import BrowserChoice
    from capture_consumer.capture.shutter import Shot

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("CAPTURE_TEST_DATA") or ROOT.parent / "shared" / "data")
STORYBOOK = DATA / "storybook-v1"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (STORYBOOK / "index.json").is_file(),
        reason=f"no Storybook in {STORYBOOK}: name the folder in CAPTURE_TEST_DATA",
    ),
]

ERRORED = {
    "unstable-errors--throws-on-render": ("story_error", "This story throws on render"),
    "unstable-errors--throws-in-effect": ("story_error", "This story throws in an effect"),
    "unstable-errors--throws-in-play": ("play_error", "play failed"),
    "unstable-errors--throws-in-loader": ("story_error", "loader failed"),
    "interaction-form--failing-assertion": ("play_error", "toHaveTextContent"),
}
MOVING = {"motion-animation--canvas-raf", "motion-animation--marquee"}
EMPTY = {"layout-awkward--renders-nothing", "layout-awkward--zero-height"}


@pytest.fixture(scope="module")
def runs(
    browser: BrowserChoice, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Mapping[str, Shot], ...]:
    """Return all shots by story: of two runs with a browser each, and of fresh contexts."""
    return tuple(
        _run(browser, tmp_path_factory.mktemp("scratch"), fresh=fresh, order=order)
        for fresh, order in ((False, 1), (False, -1), (True, 1))
    )


def _run(
    browser: BrowserChoice, scratch: Path, *, fresh: bool, order: int
) -> Mapping[str, Shot]:
    index = read_index((STORYBOOK / "index.json").read_bytes())
    with Camera(browser, scratch=scratch) as camera:
        camera.open(site_of(STORYBOOK))
        return {
            entry.id: camera.take(entry.id, DEFAULT_MODE, fresh=fresh)
            for entry in index.entries[::order]
        }


def looks_of(shot: Shot) -> str | None:
    return pixel_sha(decode(shot.png)) if shot.png else None


def test_the_stories_that_fail_and_no_others_are_errored(runs):
    """CAP-14, C-11, C-12, C-13."""
    errored = [{name for name, shot in run.items() if shot.result == "errored"} for run in runs]

    assert errored == [set(ERRORED)] * 3


@pytest.mark.parametrize("story", ERRORED)
def test_a_failing_story_says_why(runs, story):
    """CAP-14."""
    code, text = ERRORED[story]

    assert {run[story].code for run in runs} == {code}
    assert all(text in (run[story].message or "") for run in runs)


def test_only_what_never_comes_to_rest_is_moving(runs):
    """CAP-17."""
    moving = {name for run in runs for name, shot in run.items() if shot.result == "moving"}

    assert moving <= MOVING


def test_every_other_story_has_the_same_pixels_in_each_run_and_in_a_fresh_context(runs):
    """CAP-6, CAP-16, CAP-21, BUILD-45: the second run goes through the stories backwards."""
    looks = [
        {name: looks_of(shot) for name, shot in run.items() if name not in MOVING}
        for run in runs
    ]
    differing = {
        name for name, look in looks[0].items() if {other[name] for other in looks} != {look}
    }

    assert len(looks[0]) == 118 - len(MOVING)
    assert differing == set()


def test_stories_that_draw_nothing_are_marked(runs):
    """CAP-19, C-13."""
    empty = {name for run in runs for name, shot in run.items() if shot.empty}

    assert empty == EMPTY


def test_late_content_is_in_the_picture(runs):
    """CAP-17: it is not the picture of the loader."""
    late, early = (
        {looks_of(run[f"unstable-slow--{name}"]) for run in runs}
        for name in ("delayed-render-500", "delayed-render-100")
    )

    assert len(late) == len(early) == 1
    assert late != early  # "Appeared after 500 ms" and "… 100 ms", not "Loading…" twice
