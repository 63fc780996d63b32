"""The picture of a difference, and the look that the eye takes at itself."""

import numpy as np
import pytest
from PIL import Image

from capture_consumer.images import check, compare as comparing, fingerprint
from capture_consumer.images.compare import Comparison, Rule, compare
from capture_consumer.images.decode import Picture, decode
from capture_consumer.images.mask import draw, regions
from tests.images.drawing import picture, plain, striped, with_box

CHANGED = [219, 0, 116]
FRAME = [255, 128, 0]


def drawn(before, after):
    """Return the difference picture's pixels, without alpha."""
    here, there = picture(before), picture(after)
    found = compare(here, there, Rule())
    return decode(draw(here, there, found)).pixels[..., :3]


def test_changed_pixels_have_one_colour_and_all_else_is_pale():
    """CAP-34."""
    before = with_box(plain(60, 60), (2, 2, 9, 9), "black")
    after = with_box(before, (30, 30, 33, 33), "black")

    found = drawn(before, after)

    assert (found[30:34, 30:34] == CHANGED).all()
    assert found[5, 5].min() > 150
    assert found[50, 50].tolist() == [255, 255, 255]


def test_what_changed_together_is_framed():
    """CAP-34."""
    after = with_box(plain(60, 60), (30, 30, 33, 33), "black")

    found = drawn(plain(60, 60), after)

    assert found[25, 30].tolist() == FRAME
    assert found[38, 38].tolist() == FRAME
    assert not (found[26:38, 26:38] == FRAME).all(axis=2).any()


def test_pixels_that_lie_apart_are_regions_of_their_own():
    """CAP-34."""
    after = with_box(with_box(plain(99, 99), (80, 0, 82, 4), "red"), (3, 50, 9, 51), "red")

    found = compare(picture(plain(99, 99)), picture(after), Rule())

    assert regions(found) == [(80, 0, 3, 5), (3, 50, 7, 2)]


def test_confetti_is_framed_as_a_whole():
    """CAP-34."""
    pixels = np.full((600, 600, 4), 255, dtype=np.uint8)
    after = pixels.copy()
    after[::40, ::40, 0] = 0

    found = compare(Picture(pixels), Picture(after), Rule())

    assert regions(found) == [found.box]


def test_inserted_rows_stand_on_green_and_removed_ones_on_red():
    """CAP-32, CAP-34: the rows of both pictures have room."""
    short, long = striped(60), np.asarray(striped(60))
    long = np.concatenate([long[:20], np.full((9, 32, 4), 255, dtype=np.uint8), long[20:]])
    after = Image.fromarray(long)

    grown, shrunk = drawn(short, after), drawn(after, short)

    assert grown.shape == shrunk.shape == (69, 32, 3)
    assert (grown[20:29] == [170, 235, 185]).all()
    assert (shrunk[20:29] == [250, 185, 180]).all()


def test_a_picture_that_grew_has_its_new_part_marked():
    """CAP-29, CAP-34."""
    found = drawn(plain(40, 40), plain(60, 40))

    assert (found[20, 50] == CHANGED).all()
    assert (found[20, 20] == 255).all()


def test_equal_pictures_have_no_difference_picture():
    """CAP-34: drawn only when something differs."""
    white = picture(plain())

    with pytest.raises(AssertionError, match="nothing differs"):
        draw(white, white, Comparison("equal"))


def test_the_eye_works_on_this_machine():
    """CAP-36."""
    check.engine_works()


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        (Comparison("equal"), "one red pixel was seen as"),
        (Comparison("changed", 1, 0.0025, 1, (7, 9, 1, 1)), "differs from itself"),
    ],
)
def test_an_eye_that_sees_wrongly_says_so(monkeypatch, wrong, cause):
    """CAP-36."""
    monkeypatch.setattr(comparing, "compare", lambda *_: wrong)

    with pytest.raises(RuntimeError, match=cause):
        check.engine_works()


def test_an_eye_that_hashes_wrongly_says_so(monkeypatch):
    """CAP-36."""
    monkeypatch.setattr(fingerprint, "pixel_sha", lambda _: "same")

    with pytest.raises(RuntimeError, match="one fingerprint"):
        check.engine_works()
