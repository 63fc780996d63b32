"""What is a picture, and what is refused before anything is decoded."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image, ImageCms

from capture_consumer.errors import InvalidImage
from capture_consumer.images.decode import decode
from capture_consumer.images.fingerprint import pixel_sha
from capture_consumer.images.png import Limits
from tests.images.drawing import SIGNATURE, chunk, encoded, header, plain, png, rows, with_box

COLOURS = ("white", "red", "#00ff00", "#0a141e")
RED_ROW = b"\xff\0\0" * 4


def drawn() -> Image.Image:
    """Return four colours of which each is seen."""
    image = plain(8, 8)
    for place, colour in enumerate(COLOURS):
        image = with_box(image, (place * 2, 1, place * 2 + 1, 5), colour)
    return image


def profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def other_order(image: Image.Image) -> Image.Image:
    paletted = image.convert("RGB").quantize(8)
    used = len(paletted.getcolors() or ())
    return paletted.remap_palette(list(range(used))[::-1])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(encoded(drawn()), id="opaque RGBA"),
        pytest.param(encoded(drawn().convert("RGB")), id="RGB"),
        pytest.param(encoded(drawn().convert("RGB").quantize(8)), id="palette"),
        pytest.param(encoded(other_order(drawn())), id="palette in another order"),
        pytest.param(encoded(drawn(), icc_profile=profile()), id="with a profile"),
        pytest.param(encoded(drawn(), dpi=(300, 300)), id="with a density"),
        pytest.param(encoded(drawn(), optimize=True), id="packed in another way"),
        pytest.param(encoded(drawn()) + b"PK\3\4 something else", id="bytes after the end"),
        pytest.param(
            encoded(drawn())[:33]
            + chunk(b"gAMA", struct.pack(">I", 45_455))
            + chunk(b"tEXt", b"Comment\0hello")
            + encoded(drawn())[33:],
            id="with gamma and text",
        ),
    ],
)
def test_one_picture_stored_in_any_way_has_one_hash(data):
    """CAP-27, CAP-28, C-32, C-34."""
    assert pixel_sha(decode(data)) == pixel_sha(decode(encoded(drawn())))


def test_a_grey_picture_is_the_coloured_one_without_colour():
    """CAP-27, C-32."""
    grey = drawn().convert("L")

    assert pixel_sha(decode(encoded(grey))) == pixel_sha(decode(encoded(grey.convert("RGBA"))))
    assert pixel_sha(decode(encoded(grey.convert("LA")))) == pixel_sha(decode(encoded(grey)))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_greys_of_few_bits_are_spread_over_the_whole_range(depth):
    """CAP-27."""
    most = (1 << depth) - 1
    data = png(header(2, 1, depth=depth, colour=0), rows(bytes([most << (8 - depth)])))

    assert decode(data).pixels[0].tolist() == [[255, 255, 255, 255], [0, 0, 0, 255]]


def test_interlaced_rows_are_put_in_order():
    """CAP-27, C-32: 2 x 2 pixels are three passes of Adam7: one, one and two pixels."""
    packed = b"\0\xff\0\0" + b"\0\0\xff\0" + b"\0\0\0\xff\x0a\x0b\x0c"
    data = png(header(2, 2, interlace=1), chunk(b"IDAT", zlib.compress(packed)))

    found = decode(data).pixels[..., :3].tolist()

    assert found == [[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [10, 11, 12]]]


def test_sixteen_bit_greys_are_cut_to_their_upper_eight():
    """CAP-27, C-29: a plain conversion turns both of these white."""
    data = png(header(2, 1, depth=16, colour=0), rows(b"\x20\x00\x90\x00"))

    assert decode(data).pixels[0, :, 0].tolist() == [0x20, 0x90]


@pytest.mark.parametrize(
    ("colour", "depth", "key", "row"),
    [
        pytest.param(0, 8, b"\0\x07", b"\x07\x08", id="grey"),
        pytest.param(0, 4, b"\0\x07", b"\x78", id="grey of 4 bits"),
        pytest.param(0, 16, b"\x07\x01", b"\x07\x01\x07\x02", id="grey of 16 bits"),
        pytest.param(2, 8, b"\0\x01\0\x02\0\x03", b"\x01\x02\x03\x01\x02\x04", id="RGB"),
    ],
)
def test_the_one_transparent_colour_becomes_nothing(colour, depth, key, row):
    """CAP-27, C-32."""
    data = png(header(2, 1, depth=depth, colour=colour), chunk(b"tRNS", key), rows(row))

    found = decode(data).pixels[0]

    assert found[0].tolist() == [0, 0, 0, 0]
    assert found[1, 3] == 255


def test_a_palette_may_be_transparent_and_may_be_too_short():
    """CAP-27: an index past its end is black, as in browsers."""
    palette, alphas = chunk(b"PLTE", b"\xff\0\0\0\xff\0"), chunk(b"tRNS", b"\0\x80")
    data = png(header(3, 1, colour=3), palette, alphas, rows(b"\0\1\2"))

    assert decode(data).pixels[0].tolist() == [[0, 0, 0, 0], [0, 255, 0, 128], [0, 0, 0, 255]]


def test_colours_that_alpha_hides_make_no_difference():
    """CAP-27."""
    red, blue = (Image.new("RGBA", (3, 3), colour) for colour in ("#f000", "#00f0"))

    assert pixel_sha(decode(encoded(red))) == pixel_sha(decode(encoded(blue)))


def test_width_and_height_are_part_of_the_hash():
    """CAP-28."""
    assert pixel_sha(decode(encoded(plain(2, 8)))) != pixel_sha(decode(encoded(plain(4, 4))))


def test_a_profile_that_is_not_srgb_is_noted():
    """C-32."""
    body = b"Display P3\0\0" + zlib.compress(b"x" * 200)
    data = png(header(4, 1), chunk(b"iCCP", body), rows(RED_ROW))

    assert decode(data).notes == ("colour profile 'Display P3' is not applied",)
    assert decode(encoded(drawn(), icc_profile=profile())).pixels is not None


SOUND = png(header(4, 2), rows(RED_ROW, RED_ROW))
PACKED = zlib.compress(b"".join(b"\0" + RED_ROW for _ in range(16)))


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        pytest.param(b"", "empty", id="nothing"),
        pytest.param(b"<html>404</html>", "not a PNG", id="a page"),
        pytest.param(b"\xff\xd8\xff\xe0JFIF", "not a PNG", id="a JPEG"),
        pytest.param(SIGNATURE, "cut off", id="a signature alone"),
        pytest.param(SOUND[:40], "cut off", id="cut in the pixels"),
        pytest.param(
            png(header(4, 2), rows(RED_ROW, RED_ROW), end=False), "cut off", id="no end"
        ),
        pytest.param(
            png(header(4, 16), rows(*[RED_ROW] * 4)), "rows are missing", id="4 of 16 rows"
        ),
        pytest.param(
            png(header(4, 1), rows(RED_ROW, RED_ROW)), "more pixels", id="too many rows"
        ),
        pytest.param(png(header(4, 2)), "rows are missing", id="no pixels at all"),
        pytest.param(
            png(header(4, 16), chunk(b"IDAT", PACKED[:-4])),
            "no end",
            id="no checksum of pixels",
        ),
        pytest.param(
            png(header(4, 16), chunk(b"IDAT", PACKED[:-1] + b"!")), "damaged", id="wrong pixels"
        ),
        pytest.param(
            png(header(4, 1), chunk(b"IDAT", b"x", checksum=7)),
            "wrong checksum",
            id="wrong CRC",
        ),
        pytest.param(
            png(header(4, 1, depth=3), rows(RED_ROW)), "depth 3", id="impossible depth"
        ),
        pytest.param(png(header(4, 1, colour=3), rows(b"\0" * 4)), "palette", id="no palette"),
        pytest.param(png(header(0, 1), rows(b"")), "nothing to see", id="no columns"),
        pytest.param(
            png(header(1, 1), chunk(b"acTL", b"\0\0\0\2\0\0\0\0"), rows(RED_ROW[:3])),
            "animated",
            id="two frames",
        ),
        pytest.param(png(header(1, 1), chunk(b"BOOM", b"")), "critical", id="unknown chunk"),
        pytest.param(png(chunk(b"tEXt", b"x"), header(1, 1)), "first chunk", id="no header"),
    ],
)
def test_what_is_no_whole_picture_is_refused_with_its_cause(data, cause):
    """CAP-27, C-31."""
    with pytest.raises(InvalidImage, match=cause):
        decode(data)


@pytest.mark.parametrize(
    ("width", "height", "cause"),
    [(60_000, 60_000, "at most 16384"), (12_000, 12_000, "at most 40000000")],
)
def test_what_is_too_large_is_refused_from_its_header(width, height, cause):
    """CAP-27, C-33: nothing is inflated, so there need not be any pixels."""
    with pytest.raises(InvalidImage, match=f"{width} x {height} pixels.*{cause}"):
        decode(png(header(width, height), end=False))


def test_a_bomb_of_text_is_never_inflated():
    """CAP-27, C-33: 80 MB of zeros in 82 kB."""
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(80_000_000), 9))

    assert decode(png(header(4, 1), bomb, rows(RED_ROW))).width == 4


def test_a_bomb_of_pixels_is_inflated_no_further_than_its_header_says():
    """CAP-27, C-33."""
    bomb = chunk(b"IDAT", zlib.compress(bytes(50_000_000), 9))

    with pytest.raises(InvalidImage, match="more pixels"):
        decode(png(header(4, 1), bomb))


def test_limits_can_be_set():
    """CAP-27."""
    with pytest.raises(InvalidImage, match="at most 3"):
        decode(SOUND, limits=Limits(side=3))


def test_an_animation_of_one_frame_is_a_picture():
    """CAP-27."""
    still = chunk(b"acTL", b"\0\0\0\1\0\0\0\0")

    assert decode(png(header(4, 1), still, rows(RED_ROW))).height == 1


def test_what_a_decoder_raises_is_an_invalid_image_with_its_cause(monkeypatch):
    """CAP-27, C-33."""

    def explode(*_args: object, **_named: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(Image, "frombytes", explode)

    with pytest.raises(InvalidImage, match="MemoryError: no room"):
        decode(SOUND)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_to_a_picture_raises_anything_but_invalid_image(data):
    """CAP-27, C-33: or else it is none, and the pixels are those that were stored."""
    whole = bytearray(encoded(drawn()))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))

    try:
        found = pixel_sha(decode(bytes(whole)))
    except InvalidImage:
        return
    assert found == pixel_sha(decode(encoded(drawn())))


@settings(max_examples=60, deadline=None)
@given(
    mode=st.sampled_from(["1", "L", "LA", "P", "RGB", "RGBA", "I;16"]),
    size=st.tuples(st.integers(1, 19), st.integers(1, 19)),
    seed=st.integers(0, 999),
)
def test_any_mode_is_decoded_as_pillow_would_but_for_sixteen_bits(mode, size, seed):
    """CAP-27: every filter and row length, against the library alone."""
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
    image = Image.fromarray(noise)
    if mode == "I;16":
        image = Image.fromarray(noise[..., 0].astype(np.uint16) * 256 + noise[..., 1])
        expected = np.repeat(noise[..., :1], 3, axis=2)
    else:
        image = image.convert(mode)
        stored = Image.open(io.BytesIO(encoded(image))).convert("RGBA")
        expected = np.asarray(stored)[..., :3] * (np.asarray(stored)[..., 3:] > 0)

    found = decode(encoded(image)).pixels

    assert (found[..., :3] == expected).all()
