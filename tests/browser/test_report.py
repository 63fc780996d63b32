"""A build's report in a real browser: no error, no network, no sideways scrolling."""

import os
from dataclasses import replace

import pytest
from playwright.sync_api import sync_playwright

from capture_consumer.builds.facts import BuildView
from capture_consumer.capture.browser import find
from capture_consumer.pages import report
from tests.unit.test_pages import BEFORE, BUILD, Blobs, changed, snapshot

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=find(None, os.environ).path, args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def address(tmp_path):
    blobs = Blobs()
    view = BuildView(
        build=BUILD,
        snapshots=(
            changed(blobs, title="A/" + "very-long-name" * 9),
            changed(blobs, number=3, message="x" * 400),
            snapshot("new", number=2, image=blobs.picture("red", (1280, 3000))),
        ),
        shards=(),
        baseline=BEFORE,
        baseline_reason="ancestor",
    )
    return report.write(view, blobs.get, tmp_path).as_uri()


@pytest.fixture
def opened(chromium, address):
    """Return a function that opens the report, and what the browser complained of."""
    contexts = []

    def one(at=address, **how):
        contexts.append(chromium.new_context(**how))
        page = contexts[-1].new_page()
        complaints = []

        def refuse(route):
            complaints.append(route.request.url)
            route.abort()

        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route(lambda url: not url.startswith(("file:", "data:")), refuse)
        page.goto(at)
        return page, complaints

    yield one
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [360, 900, 1600])
def test_nothing_has_to_be_scrolled_sideways(opened, width):
    """BUILD-112."""
    page, _ = opened(viewport={"width": width, "height": 900})

    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_change_can_be_looked_at_in_four_ways(opened):
    """BUILD-112: swipe and fade show both pictures on one another."""
    page, complaints = opened()
    card = page.locator(".card.o-changed").first

    for view in ("Swipe", "Fade"):
        card.get_by_role("button", name=view).click()
        assert card.locator(".stage .after").is_visible()
        assert not card.locator(".panels").is_visible()
    for view in ("Close-up", "Side by side"):
        card.get_by_role("button", name=view).click()
        assert card.locator(".panels img").count() == 3
        assert card.locator(".panels").is_visible()
    assert complaints == []


@pytest.fixture
def tall(tmp_path):
    """Return the report of one tall picture that changed a little in the middle."""
    blobs = Blobs()
    view = changed(blobs)
    red, blue = (blobs.picture(colour, (1280, 2800)) for colour in ("red", "blue"))
    view = replace(
        view,
        fact=replace(view.fact, image=red, baseline=blue),
        comparison=replace(view.comparison, box=(300, 1400, 12, 9), diff_sha=red.blob_sha),
    )
    whole = BuildView(
        build=BUILD, snapshots=(view,), shards=(), baseline=BEFORE, baseline_reason="ancestor"
    )
    return report.write(whole, blobs.get, tmp_path / "tall").as_uri()


SEEN = """frame => {
    const image = frame.querySelector("img");
    const at = 1400 * image.clientWidth / 1280 - frame.scrollTop;
    return at >= 0 && at <= frame.clientHeight;
}"""


def test_a_change_too_small_to_be_seen_is_shown_close_up(opened, tall):
    """BUILD-112."""
    page, _ = opened(at=tall, viewport={"width": 1400, "height": 900})
    card = page.locator(".card.o-changed")
    page.wait_for_function("[...document.images].every(image => image.complete)")

    assert card.get_attribute("data-view") == "close"
    for view in ("Close-up", "Side by side"):
        card.get_by_role("button", name=view).click()
        assert card.locator(".frame").evaluate_all(f"frames => frames.every({SEEN})"), view


def test_the_keys_go_from_story_to_story(opened):
    """BUILD-112."""
    page, _ = opened()

    went = []
    for key in ("j", "j", "j", "j", "k"):
        page.keyboard.press(key)
        went.append(page.evaluate("document.activeElement.id"))

    assert went == ["s1", "s3", "s2", "s2", "s3"]


def test_without_scripts_everything_is_there(opened):
    """BUILD-113."""
    page, complaints = opened(java_script_enabled=False)

    assert page.locator("img:visible").count() == 7
    assert page.locator("figcaption").first.is_visible()
    assert complaints == []
