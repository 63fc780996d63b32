"""A browser that dies takes one story; what it leaves behind is nothing (CAP-22)."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from capture_consumer.builds.identity import DEFAULT_MODE
from capture_consumer.capture import shutter
from capture_consumer.capture.launch import PREFIX, sweep
from capture_consumer.errors import BrowserDied
from tests.storybooks import tiny
from tests.storybooks.files import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from capture_consumer.capture.shutter import Camera

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

STORIES = [
    tiny.still("good--one"),
    tiny.crashes("bad--crashes"),
    tiny.unfinished("bad--never", "load"),
    tiny.hangs("bad--hangs"),
]


@pytest.fixture(autouse=True, scope="module")
def site(camera: Camera, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Open the tiny Storybook of these stories."""
    camera.open(site_of(tiny.write(tmp_path_factory.mktemp("tiny"), STORIES)))
    yield
    camera.leave()


def when_shown(camera, act):
    """Have `act` called by another thread while a story is in hand; return that thread."""
    begun = threading.Event()
    thread = threading.Thread(target=lambda: (begun.wait(1.0), act()))
    thread.start()
    return thread


def test_a_story_that_kills_its_page_raises_and_the_next_one_is_taken(camera):
    """CAP-22, BUILD-46, C-22."""
    with pytest.raises(BrowserDied):
        camera.take("bad--crashes", DEFAULT_MODE)

    assert camera.take("good--one", DEFAULT_MODE).result == "still"


def test_a_browser_killed_by_another_thread_raises_and_the_next_story_has_a_new_one(camera):
    """CAP-22, R32."""
    camera.take("good--one", DEFAULT_MODE)
    before = set(camera.pids())
    thread = when_shown(camera, camera.kill)

    with pytest.raises(BrowserDied):
        camera.take("bad--never", DEFAULT_MODE)
    thread.join()

    assert camera.take("good--one", DEFAULT_MODE).result == "still"
    assert len(set(camera.pids()) & before) == 1  # the driver has stayed


def test_a_driver_that_dies_is_started_again(camera):
    """CAP-22."""
    camera.take("good--one", DEFAULT_MODE)
    thread = when_shown(camera, lambda: os.kill(camera.pids()[0], 9))

    with pytest.raises(BrowserDied):
        camera.take("bad--never", DEFAULT_MODE)
    thread.join()

    assert camera.take("good--one", DEFAULT_MODE).result == "still"


def test_a_blocked_page_costs_its_own_process_and_no_other(camera):
    """CAP-18, C-20."""
    camera.take("good--one", DEFAULT_MODE)
    driver, browser = camera.pids()[:2]

    camera.take("bad--hangs", DEFAULT_MODE)

    assert camera.pids()[:2] == [driver, browser]


def test_a_browser_is_recycled_after_its_number_of_stories(camera, monkeypatch):
    """CAP-6, C-21."""
    camera.renew()
    monkeypatch.setattr(shutter, "STORIES_A_BROWSER", 2)
    browsers = []
    for _ in range(4):
        assert camera.take("good--one", DEFAULT_MODE).result == "still"
        browsers.append(camera.pids()[1])

    assert browsers[0] == browsers[1] != browsers[2] == browsers[3]


def test_renewing_ends_the_browser_and_keeps_the_site(camera):
    """CAP-22."""
    camera.take("good--one", DEFAULT_MODE)
    old = camera.pids()[1]

    camera.renew()

    assert old not in camera.pids()
    assert camera.take("good--one", DEFAULT_MODE).result == "still"


def test_what_a_dead_process_left_in_the_scratch_folder_is_swept(tmp_path):
    """CAP-10."""
    left, kept = tmp_path / f"{PREFIX}999999999-x", tmp_path / f"{PREFIX}{os.getpid()}-x"
    (left / "profile").mkdir(parents=True)
    kept.mkdir()

    sweep(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == [kept.name]
