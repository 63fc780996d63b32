"""What the comparison says of pairs: the corpus, and the table of answers for the dials."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image, ImageDraw, ImageFont

from capture_consumer.images.compare import Comparison, Rule, compare
from capture_consumer.images.decode import Picture, decode
from tests.images.drawing import encoded, header, picture, plain, png, rows, striped, with_box

DEFAULT = Rule()


def told(before, after, rule=DEFAULT):
    return compare(picture(before), picture(after), rule)


def test_equal_pixels_are_equal_however_they_were_stored():
    """CAP-28, C-32."""
    image = with_box(plain(), (3, 3, 9, 9), "red")

    assert told(image, image.convert("RGB").quantize(4)) == Comparison("equal")


def test_one_red_pixel_is_a_change():
    """CAP-29, C-30: the box of an RGBA difference looks at alpha alone."""
    found = told(plain(50, 50), with_box(plain(50, 50), (20, 30, 20, 30), "red"))

    assert (found.verdict, found.changed_px, found.box) == ("changed", 1, (20, 30, 1, 1))
    assert found.ratio == 1 / 2500
    assert found.densest_block == 1


def test_two_sixteen_bit_greys_that_pillow_turns_white_are_a_change():
    """CAP-27, C-29."""
    dark, light = (
        decode(png(header(1, 1, depth=16, colour=0), rows(grey)))
        for grey in (b"\x20\x00", b"\x90\x00")
    )

    assert compare(dark, light, DEFAULT).verdict == "changed"


@pytest.mark.parametrize(("width", "height"), [(40, 41), (41, 40), (39, 40), (40, 1)])
def test_another_size_is_a_change_though_what_overlaps_is_equal(width, height):
    """CAP-29, CAP-31: and no dial allows it."""
    rule = Rule(max_pixels=10_000, max_ratio=1.0, max_block=256)

    found = told(plain(40, 40), plain(width, height), rule)

    assert found.verdict == "changed"
    assert found.changed_px == abs(40 * 40 - width * height)


def test_a_solid_box_one_pixel_further_is_a_change():
    """CAP-30, C-35."""
    before, after = (with_box(plain(), (x, 5, x + 9, 30), "black") for x in (10, 11))

    found = told(before, after)

    assert (found.verdict, found.box) == ("changed", (10, 5, 11, 26))


def ring(samples):
    """Return a thin ring whose edge was smoothed by so many samples a side."""
    drawn = Image.new("L", (60 * samples, 60 * samples), 255)
    box = (10 * samples, 10 * samples, 50 * samples - 1, 50 * samples - 1)
    ImageDraw.Draw(drawn).ellipse(box, outline=40, width=samples)
    return drawn.resize((60, 60), Image.Resampling.BOX)


def test_a_thin_ring_smoothed_in_another_way_is_tolerated():
    """CAP-30, C-35."""
    assert told(ring(8), ring(16)).verdict == "tolerated"
    assert told(ring(8), ring(16), Rule(strict=True)).verdict == "changed"


def text(shift):
    """Return smooth text, moved to the right by a part of a pixel."""
    drawn = Image.new("L", (120 * 8, 32 * 8), 255)
    ImageDraw.Draw(drawn).text(
        ((8 + shift) * 8, 48), "Hello pixel", fill=20, font=ImageFont.load_default(size=128)
    )
    return drawn.resize((120, 32), Image.Resampling.BOX)


def test_most_of_what_a_part_of_a_pixel_moves_is_forgiven():
    """CAP-30, C-35: not all of it.

    Where a stroke is one pixel wide its darkness changes too, and whoever forgives that no
    longer sees thin text change its colour.
    """
    forgiving, strict = told(text(0), text(0.3)), told(text(0), text(0.3), Rule(strict=True))

    assert forgiving.changed_px < strict.changed_px * 0.3


def test_a_new_colour_of_thin_text_is_a_change():
    """CAP-30: what a more forgiving rule would miss."""
    paler = text(0).point(lambda level: 255 - (255 - level) * 3 // 4)

    assert told(text(0), paler).verdict == "changed"


def test_a_pale_shift_of_a_whole_area_is_tolerated_and_strictly_changed():
    """CAP-30: 13 levels of red."""
    before, after = plain(40, 40, "#c82828"), plain(40, 40, "#d52828")

    assert told(before, after).verdict == "tolerated"
    assert told(before, after, Rule(strict=True)).changed_px == 1600


def test_small_steps_add_up_against_the_accepted_picture():
    """CAP-30, C-37: the baseline stays the accepted one, so the 17th grey is too far."""
    verdicts = [
        told(plain(8, 8, "#c8c8c8"), Image.new("L", (8, 8), 200 + step)).verdict
        for step in range(30)
    ]

    assert verdicts == ["equal"] + ["tolerated"] * 16 + ["changed"] * 13


def spread(pixels):
    """Return a white 64 x 64 picture with so many red pixels, two rows and columns apart."""
    drawn = np.full((64, 64, 4), 255, dtype=np.uint8)
    for number in range(pixels):
        drawn[number // 20 * 3, number % 20 * 3, 1:3] = 0
    return Image.fromarray(drawn)


# What differs: nothing, 4 pixels far apart, 40 of them, a block of 40.
PAIRS = {
    "none": plain(64, 64),
    "four": spread(4),
    "forty": spread(40),
    "block": with_box(plain(64, 64), (0, 0, 9, 3), "red"),
}
TABLE: list[Any] = [
    # the dials                                 none        four         forty        block
    (Rule(), "equal", "changed", "changed", "changed"),
    (Rule(max_pixels=4), "equal", "tolerated", "changed", "changed"),
    (Rule(max_pixels=3), "equal", "changed", "changed", "changed"),
    (Rule(max_pixels=40), "equal", "tolerated", "tolerated", "tolerated"),
    (Rule(max_ratio=0.001), "equal", "tolerated", "changed", "changed"),
    (Rule(max_ratio=0.01), "equal", "tolerated", "tolerated", "tolerated"),
    (Rule(max_block=39), "equal", "tolerated", "tolerated", "changed"),
    (Rule(max_block=40), "equal", "tolerated", "tolerated", "tolerated"),
    (Rule(max_pixels=40, max_block=39), "equal", "tolerated", "tolerated", "changed"),
    (Rule(max_pixels=39, max_ratio=1.0), "equal", "tolerated", "changed", "changed"),
    (Rule(max_pixels=40, max_ratio=0.001), "equal", "tolerated", "changed", "changed"),
    (Rule(max_pixels=40, max_ratio=1.0, max_block=256), "equal", *["tolerated"] * 3),
    (Rule(threshold=1.0), "equal", *["tolerated"] * 3),
    (Rule(threshold=1.0, strict=True), "equal", *["changed"] * 3),
    (Rule(strict=True, max_pixels=4), "equal", "tolerated", "changed", "changed"),
]


@pytest.mark.parametrize(
    ("rule", "pair", "verdict"),
    [
        pytest.param(rule, pair, verdict, id=f"{number}-{pair}")
        for number, (rule, *verdicts) in enumerate(TABLE)
        for pair, verdict in zip(PAIRS, verdicts, strict=True)
    ],
)
def test_the_dials_answer_as_the_table_says(rule, pair, verdict):
    """CAP-31."""
    assert told(PAIRS["none"], PAIRS[pair], rule).verdict == verdict


def test_the_densest_block_is_found_wherever_it_lies():
    """CAP-31: a grid of blocks would cut this one into four quarters."""
    found = told(plain(64, 64), with_box(plain(64, 64), (12, 12, 19, 19), "red"))

    assert found.densest_block == 64


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), width=st.integers(1, 50), height=st.integers(1, 50))
def test_the_densest_block_is_the_largest_of_all(seed, width, height):
    """CAP-31."""
    on = np.random.default_rng(seed).random((height, width)) < 0.3
    after = np.full((height, width, 4), 255, dtype=np.uint8)
    after[on, :3] = 0
    before = Picture(np.full_like(after, 255))

    found = compare(before, Picture(after), Rule(strict=True))

    squares = [
        int(on[y : y + 16, x : x + 16].sum())
        for y in range(max(1, height - 15))
        for x in range(max(1, width - 15))
    ]
    assert found.densest_block == max(squares)


def test_rules_that_judge_alike_have_one_hash_and_others_have_others():
    """CAP-31: it is what a comparison is cached under."""
    others = [row[0] for row in TABLE]

    assert Rule().sha == Rule(threshold=0.063).sha
    assert len({rule.sha for rule in others}) == len(others)


@pytest.mark.parametrize(
    "dials", [{"threshold": 1.1}, {"max_ratio": -0.1}, {"max_pixels": -1}, {"max_block": 257}]
)
def test_dials_out_of_range_are_refused(dials):
    """CAP-31."""
    with pytest.raises(ValueError, match=r"between 0 and 1|0 or more"):
        Rule(**dials)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 999),
    sizes=st.tuples(*[st.integers(1, 30)] * 4),
    strict=st.booleans(),
)
def test_comparing_is_symmetric_and_never_raises(seed, sizes, strict):
    """CAP-29: whatever the sizes and the alpha."""
    random = np.random.default_rng(seed)
    before, after = (
        Picture(random.integers(0, 2, (high, wide, 4), dtype=np.uint8) * 255)
        for wide, high in (sizes[:2], sizes[2:])
    )

    there, back = (
        compare(one, two, Rule(strict=strict))
        for one, two in ((before, after), (after, before))
    )

    assert (there.verdict, there.changed_px) == (back.verdict, back.changed_px)


def joined(*parts):
    """Stack pictures of one width."""
    return Image.fromarray(np.concatenate([np.asarray(part) for part in parts]))


BANNER = plain(32, 40, "gold")


def test_forty_inserted_rows_are_one_band_and_nothing_below_differs():
    """CAP-32, C-36."""
    page = striped(120)

    found = told(page, joined(striped(40), BANNER, striped(80, first=40)))

    assert found.verdict == "changed"
    assert found.bands == ({"kind": "inserted", "at": 40, "drawn_at": 40, "rows": 40},)
    assert found.changed_px == 40 * 32
    assert found.box == (0, 40, 32, 40)
    assert page.height == 120


def test_removed_rows_are_a_band_of_what_was():
    """CAP-32."""
    found = told(joined(striped(40), BANNER, striped(80, first=40)), striped(120))

    assert found.bands == ({"kind": "removed", "at": 40, "drawn_at": 40, "rows": 40},)
    assert found.changed_px == 40 * 32


def test_in_a_picture_of_fixed_height_what_was_pushed_out_is_a_second_band():
    """CAP-32."""
    found = told(striped(200), joined(striped(40), BANNER, striped(120, first=40)))

    assert [(band["kind"], band["at"], band["rows"]) for band in found.bands] == [
        ("inserted", 40, 40),
        ("removed", 160, 40),
    ]


def test_two_bands_among_rows_that_repeat_are_both_found():
    """CAP-32: blank rows, of which there are many, are matched from their neighbours on."""
    blank = plain(32, 30)
    here, there = striped(20), striped(20, first=20)

    found = told(joined(here, blank, there), joined(BANNER, here, blank, BANNER, there))

    assert [(band["at"], band["rows"]) for band in found.bands] == [(0, 40), (90, 40)]


def test_a_row_that_changed_below_a_band_is_no_band():
    """CAP-32: equal rows are matched downwards from one anchor and upwards from the next."""
    before = joined(striped(20), plain(32, 6), striped(20, first=20))
    put_in, changed, blank = plain(32, 9, "gold"), plain(32, 1, "red"), plain(32, 5)
    below = with_box(striped(20, first=20), (31, 19, 31, 19), "red")
    after = joined(striped(20), put_in, changed, blank, below)

    found = told(before, after)

    assert [(band["kind"], band["rows"]) for band in found.bands] == [("inserted", 9)]
    assert found.changed_px == 10 * 32 + 1


def test_what_changed_beside_a_band_is_still_seen():
    """CAP-32."""
    below = with_box(striped(80, first=40), (30, 50, 31, 51), "red")

    found = told(striped(120), joined(striped(40), BANNER, below))

    assert len(found.bands) == 1
    assert found.changed_px == 40 * 32 + 4


def test_an_inserted_band_never_makes_a_change_allowed():
    """CAP-32: it stays changed."""
    after = joined(striped(40), plain(32, 1, "gold"), striped(80, first=40))

    assert told(striped(120), after, Rule(max_ratio=0.9)).verdict == "changed"


def test_another_page_altogether_has_no_bands():
    """CAP-32."""
    assert told(striped(100), striped(100, first=200)).bands == ()


@settings(max_examples=60, deadline=None)
@given(
    before=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    after=st.lists(st.integers(0, 6), min_size=1, max_size=40),
)
def test_bands_and_what_they_leave_are_all_rows_of_both(before, after):
    """CAP-32: rows of few kinds, so that most are there more than once."""
    here, there = (
        Picture(np.full((len(kinds), 4, 4), 255, dtype=np.uint8)) for kinds in (before, after)
    )
    for pixels, kinds in ((here.pixels, before), (there.pixels, after)):
        pixels[..., 0] = np.array(kinds)[:, np.newaxis] * 40

    found = compare(here, there, Rule(strict=True))

    added = sum(band["rows"] for band in found.bands if band["kind"] == "inserted")
    taken = sum(band["rows"] for band in found.bands if band["kind"] == "removed")
    moved = bool(found.bands)
    assert not moved or len(before) - taken + added == len(after)
    assert (found.verdict == "equal") == (before == after)


def test_the_picture_that_was_decoded_cannot_be_written():
    """CAP-28: its hash may be known already."""
    found = decode(encoded(plain(2, 2)))

    with pytest.raises(ValueError, match="read-only"):
        found.pixels[0, 0, 0] = 1
