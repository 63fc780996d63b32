"""Which pixels differ."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from capture_consumer.images import colour
from capture_consumer.images.colour import differing
from tests.images import reference
from tests.images.drawing import plain, with_box


def smooth_noise(seed, size, levels):
    """Return areas of few colours with soft edges here and there, as pages have them."""
    width, height = size
    random = np.random.default_rng(seed)
    small = random.integers(0, levels, (max(1, height // 4), max(1, width // 4), 3))
    image = Image.fromarray((small * (255 // levels)).astype(np.uint8))
    how = (Image.Resampling.NEAREST, Image.Resampling.BILINEAR)[seed % 2]
    return np.asarray(image.resize((width, height), how).convert("RGBA"))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    size=st.tuples(st.integers(1, 24), st.integers(1, 24)),
    levels=st.integers(2, 5),
    moved=st.sampled_from([0, 1]),
    threshold=st.sampled_from([0.0, 0.063, 0.1, 0.5]),
)
def test_pixels_differ_exactly_where_pixelmatch_says_so(seed, size, levels, moved, threshold):
    """CAP-30."""
    before = smooth_noise(seed, size, levels)
    after = np.roll(before, moved, axis=1) if moved else smooth_noise(seed + 1, size, 3)

    found = differing(before, after, threshold=threshold, strict=False)

    assert (found == reference.differing(before, after, threshold)).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 6), places=st.integers(1, 50))
def test_working_in_parts_changes_no_answer(seed, rows, places):
    """CAP-30, CAP-35: tall pictures are taken some rows at once, and some places of these."""
    before, after = (smooth_noise(seed + more, (20, 30), 3) for more in (0, 2))
    whole = differing(before, after, threshold=0.063, strict=False)

    with pytest.MonkeyPatch.context() as small:
        small.setattr(colour, "ROWS_AT_ONCE", rows)
        small.setattr(colour, "AT_ONCE", places)
        parts = differing(before, after, threshold=0.063, strict=False)

    assert (parts == whole).all()


def colours(before, after):
    """Return a 3 x 3 picture of each colour."""
    return (
        np.full((3, 3, 4), (*before, 255), dtype=np.uint8),
        np.full((3, 3, 4), (*after, 255), dtype=np.uint8),
    )


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ((200, 40, 40), (213, 40, 40), False),
        ((200, 40, 40), (240, 40, 40), True),
        ((0, 0, 0), (16, 16, 16), False),
        ((0, 0, 0), (17, 17, 17), True),
        ((255, 255, 255), (0, 0, 0), True),
    ],
)
def test_a_colour_differs_from_the_threshold_on(before, after, seen):
    """CAP-30: 13 levels of red are within 0.063, 40 are not; of grey, 16 and 17."""
    here, there = colours(before, after)

    assert differing(here, there, threshold=0.063, strict=False).all() == seen
    assert differing(here, there, threshold=0.063, strict=True).all()


def test_black_and_white_are_at_distance_one():
    """CAP-30: but for what rounding leaves, nothing is farther apart."""
    here, there = colours((255, 255, 255), (0, 0, 0))

    assert differing(here, there, threshold=0.96, strict=False).all()
    assert not differing(here, there, threshold=1.0, strict=False).any()


@pytest.mark.parametrize("ground", ["white", "black"])
def test_what_differs_over_white_or_over_black_differs(ground):
    """CAP-29: half a white box cannot be seen on white, nor half a black one on black."""
    image = plain(20, 20, "#0000")
    half = {"white": (255, 255, 255, 128), "black": (0, 0, 0, 128)}[ground]
    here, there = np.array(image), np.array(image)
    there[5:15, 5:15] = half

    assert differing(here, there, threshold=0.063, strict=False)[5:15, 5:15].all()


def test_a_solid_box_that_moves_by_one_pixel_differs_on_both_sides():
    """CAP-30, C-35."""
    here, there = (np.asarray(with_box(plain(), (x, 10, x + 9, 19), "black")) for x in (10, 11))

    found = differing(here, there, threshold=0.063, strict=False)

    assert np.flatnonzero(found.any(axis=0)).tolist() == [10, 20]
    assert found.sum() == 20
