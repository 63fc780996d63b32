"""One story after the other, good and bad: what comes of each, and of its neighbours."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from capture_consumer.builds.identity import DEFAULT_MODE, Mode
from tests.storybooks import tiny
from tests.storybooks.files import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from capture_consumer.capture.shutter import Camera, Shot

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

NARROW = Mode("narrow", 400, 300)
DRAWS = (
    "root.textContent = [Math.random(), crypto.randomUUID(), Date.now(),"
    " new Date(), [...crypto.getRandomValues(new Uint8Array(4))]].join(' ');"
)
PAINTS = """
  const canvas = document.createElement("canvas");
  root.append(canvas);
  const gl = canvas.getContext("webgl");
  if (!gl) throw new Error("no WebGL here");
  gl.clearColor(1, 0, 0, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
"""


def gif() -> str:
    """Return a GIF of two frames, red then blue, as an address."""
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue")]
    file = BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=20, loop=0)
    return f"data:image/gif;base64,{b64encode(file.getvalue()).decode()}"


STORIES = [
    tiny.still("good--first"),
    tiny.still("good--second"),
    tiny.still("good--third", colour="#cf222e"),
    tiny.throws("bad--render"),
    tiny.throws_in_play("bad--play"),
    tiny.throws_late("bad--late"),
    tiny.unfinished("bad--never"),
    tiny.unfinished("bad--never-played", "play"),
    tiny.hangs("bad--hangs"),
    tiny.leaves("bad--leaves"),
    tiny.huge("bad--huge"),
    tiny.moving("odd--moving"),
    tiny.slow("odd--slow", 400),
    tiny.empty("odd--empty"),
    tiny.portal("odd--portal"),
    tiny.huge("odd--tall", height=5_000),
    tiny.Story("odd--gif", html=f"<body style='margin:0'><img src='{gif()}'>"),
    tiny.Story("odd--webgl", render=PAINTS),
    tiny.Story("odd--chance", render=DRAWS),
    tiny.Story("odd--late-text", render="setTimeout(() => (root.textContent = 'late'), 300);"),
    tiny.Story("odd--caret", html="<input autofocus value='x' style='font-size:40px'>"),
    tiny.Story("odd--spins", html="<p class='spin'>x</p><style>.spin{width:40px;animation:s 1s"
               " linear infinite}@keyframes s{to{transform:rotate(1turn)}}</style>"),
    tiny.Story("odd--title", html="<p>x</p>", render="scrollTo(0, 9); document.title = 't';"),
    tiny.Story("odd--уведомление-日本", html="<p>Cyrillic and more</p>"),
    tiny.Story("odd--half-pixel", html="<div style='height:100.4px;margin-top:.5px'>x</div>"),
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def site(camera: Camera, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Open the tiny Storybook of these stories."""
    camera.open(site_of(tiny.write(tmp_path_factory.mktemp("tiny"), STORIES)))
    yield
    camera.leave()


def size_of(shot: Shot) -> tuple[int, int]:
    assert shot.png
    return Image.open(BytesIO(shot.png)).size


def test_a_story_at_rest_is_one_picture_of_the_viewport(camera):
    """CAP-14, CAP-17."""
    shot = camera.take("good--first", DEFAULT_MODE)

    assert (shot.result, shot.code, shot.warnings) == ("still", None, ())
    assert size_of(shot) == (1280, 720)
    assert not shot.empty
    assert set(shot.steps_ms) >= {"load", "render", "settle", "shot"}


def test_another_story_is_another_picture(camera):
    """CAP-14, C-11."""
    first = camera.take("good--second", DEFAULT_MODE)
    other = camera.take("good--third", DEFAULT_MODE)

    assert first.png != other.png


def test_a_story_looks_the_same_whatever_was_shown_before(camera):
    """CAP-6."""
    after_one = camera.take("good--second", DEFAULT_MODE).png
    camera.take("odd--title", DEFAULT_MODE)
    after_another = camera.take("good--second", DEFAULT_MODE).png
    alone = camera.take("good--second", DEFAULT_MODE, fresh=True).png

    assert after_one == after_another == alone


@pytest.mark.parametrize(
    ("story", "code", "text"),
    [
        ("bad--render", "story_error", "This story throws"),
        ("bad--play", "play_error", "This play throws"),
        ("bad--late", "story_error", "This story throws late"),
        ("bad--never", "render_timeout", "The step render took more than 2.5 s."),
        ("bad--never-played", "play_timeout", "The step play took more than 1.5 s."),
        ("bad--huge", "too_large", "The page is 1,280 x 60,000 px"),
        ("no--such", "story_missing", "this Storybook has no story no--such"),
    ],
)
def test_a_story_that_fails_says_how_and_leaves_no_picture(camera, story, code, text):
    """CAP-14, CAP-18, CAP-19, C-12, C-13, C-16."""
    shot = camera.take(story, DEFAULT_MODE)

    assert (shot.result, shot.png, shot.code) == ("errored", None, code)
    assert text in shot.message


def test_an_error_is_not_carried_to_the_next_story(camera):
    """CAP-14, R33, C-11."""
    camera.take("bad--late", DEFAULT_MODE)
    after = camera.take("good--first", DEFAULT_MODE)

    assert after.result == "still"


def test_a_page_that_blocks_is_ended_at_the_cap_and_the_next_story_is_taken(camera):
    """CAP-18, C-20."""
    blocked = camera.take("bad--hangs", DEFAULT_MODE)
    after = camera.take("good--first", DEFAULT_MODE)

    assert (blocked.result, blocked.code) == ("errored", "render_timeout")
    assert after.result == "still"


def test_a_page_that_goes_elsewhere_is_no_picture(camera):
    """CAP-8."""
    gone = camera.take("bad--leaves", DEFAULT_MODE)
    after = camera.take("good--first", DEFAULT_MODE)

    assert (gone.result, gone.code) == ("errored", "navigated_away")
    assert "/other.html" in gone.message
    assert after.result == "still"


def test_what_never_comes_to_rest_says_so(camera):
    """CAP-17, BUILD-45."""
    shot = camera.take("odd--moving", DEFAULT_MODE)

    assert shot.result == "moving"
    assert shot.png


def test_a_loader_is_waited_for(camera):
    """CAP-17, C-10."""
    shot = camera.take("odd--slow", DEFAULT_MODE)

    assert shot.result == "still"
    assert shot.steps_ms["load"] >= 300


def test_a_timer_that_is_due_soon_is_waited_for(camera):
    """CAP-17."""
    late = camera.take("odd--late-text", DEFAULT_MODE)

    assert late.result == "still"
    assert not late.empty


def test_a_story_that_draws_nothing_is_a_picture_of_nothing(camera):
    """CAP-19, C-13."""
    shot = camera.take("odd--empty", DEFAULT_MODE)

    assert (shot.result, shot.empty) == ("still", True)


def test_what_a_story_draws_outside_of_its_root_is_in_the_picture(camera):
    """CAP-19, C-14."""
    shot = camera.take("odd--portal", DEFAULT_MODE)
    assert shot.png

    picture = Image.open(BytesIO(shot.png)).convert("RGB")
    assert picture.getpixel((124, 84)) == (0xFF, 0xD5, 0x4F)
    assert not shot.empty


@pytest.mark.parametrize("story", ["odd--gif", "odd--webgl"])
def test_a_gif_stays_at_its_first_frame_and_webgl_is_drawn(camera, story):
    """CAP-4, CAP-16, C-8."""
    shots = [camera.take(story, DEFAULT_MODE, fresh=fresh) for fresh in (False, True)]

    colours = {
        Image.open(BytesIO(shot.png)).convert("RGB").getpixel((20, 20)) for shot in shots
    }
    assert [shot.result for shot in shots] == ["still", "still"]
    assert len(colours) == 1
    assert next(iter(colours)) in {(255, 0, 0), (254, 0, 0)}


def test_a_page_higher_than_the_viewport_is_taken_whole(camera):
    """CAP-19, C-16."""
    shot = camera.take("odd--tall", DEFAULT_MODE)
    assert shot.png

    picture = Image.open(BytesIO(shot.png)).convert("RGB")
    rows = [picture.getpixel((1200, y + 50)) for y in range(0, 5_000, 100)]
    assert picture.size == (1280, 5_000)
    assert len(set(rows)) >= 18  # a hue a row, and none of them white
    assert (255, 255, 255) not in rows


@pytest.mark.parametrize(
    "story",
    ["odd--chance", "odd--caret", "odd--spins", "odd--half-pixel", "odd--уведомление-日本"],
)
def test_time_chance_and_motion_stand_still(camera, story):
    """CAP-16, C-5, C-6, C-15, C-19, C-27."""
    first = camera.take(story, DEFAULT_MODE)
    camera.take("good--first", DEFAULT_MODE)
    again = camera.take(story, DEFAULT_MODE)
    alone = camera.take(story, DEFAULT_MODE, fresh=True)

    assert first.result == "still"
    assert first.png == again.png == alone.png


def test_a_mode_sets_the_viewport(camera):
    """CAP-13, CAP-19."""
    narrow = camera.take("good--first", NARROW)
    wide = camera.take("good--first", DEFAULT_MODE)

    assert size_of(narrow) == (400, 300)
    assert size_of(wide) == (1280, 720)


def test_a_first_picture_that_is_known_needs_no_second(camera):
    """CAP-21, BUILD-45."""
    asked = []

    shot = camera.take("good--first", DEFAULT_MODE, known=lambda png: not asked.append(png))

    assert shot.result == "still"
    assert asked == [shot.png]


def test_a_moving_story_that_looks_as_known_is_still(camera):
    """CAP-21."""
    shot = camera.take("odd--moving", DEFAULT_MODE, known=lambda _: True)

    assert shot.result == "still"
