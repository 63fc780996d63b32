"""The chunks of a PNG, read and checked by us before any decoder sees them.

Pillow loads a picture with missing rows without an error and skips the checksums of its
pixels, so length, checksums and end are ours to prove (CAP-27). What is handed on are
header, palette and inflated rows, and nothing else of the file.
Format: PNG specification, third edition (W3C), sections 5, 10 and 11.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Final

from capture_consumer.errors import InvalidImage

__all__ = ["Header", "Limits", "Png", "read"]

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
IHDR: Final = struct.Struct(">IIBBBBB")
CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
# Adam7: first column, first row, step to the right, step down.
PASSES: Final = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused from the header alone, before a byte of it is inflated."""

    side: int = 16_384
    pixels: int = 40_000_000


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of IHDR."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    @property
    def inflated(self) -> int:
        """Return how many bytes all rows are once inflated, filter bytes included."""
        if not self.interlaced:
            return self.height * self.row(self.width)
        total = 0
        for left, top, right, down in PASSES:
            columns = -(-(self.width - left) // right)
            rows = -(-(self.height - top) // down)
            total += rows * self.row(columns) if columns > 0 and rows > 0 else 0
        return total

    def row(self, width: int) -> int:
        """Return the bytes of a row of `width` pixels, its filter byte included."""
        return 1 + (width * CHANNELS[self.colour] * self.depth + 7) // 8


@dataclass(frozen=True, slots=True)
class Png:
    """A checked PNG. `rows` are inflated and still filtered; `profile` is an ICC's name."""

    header: Header
    rows: bytes
    palette: bytes
    transparency: bytes | None
    profile: str | None


def read(data: bytes, limits: Limits) -> Png:
    """Check a PNG from its first byte to its end chunk and inflate its rows.

    Bytes after the end chunk are no part of the picture and are let be (C-34).

    Raises:
        InvalidImage: it is no PNG, it is too large, or it is damaged; the text says which.
    """
    header, at = read_header(data)
    check_size(header, limits)
    found: dict[bytes, bytes] = {}
    packed: list[bytes] = []
    while True:
        kind, body, at = read_chunk(data, at)
        if kind == b"IEND":
            break
        if kind == b"IDAT":
            packed.append(body)
        elif kind == b"acTL" and int.from_bytes(body[:4], "big") > 1:
            raise InvalidImage("an animated PNG has more than one picture")
        elif kind in {b"PLTE", b"tRNS", b"iCCP"} and not packed:
            found.setdefault(kind, body)
        elif not kind[0] & 0x20 and kind != b"PLTE":
            raise InvalidImage(f"it has an unknown critical chunk {kind!r}")
    if header.colour == 3 and not found.get(b"PLTE"):
        raise InvalidImage("its pixels name a palette, but it has none")
    profile = found.get(b"iCCP")
    return Png(
        header=header,
        rows=inflate(b"".join(packed), header.inflated),
        palette=found.get(b"PLTE", b"") if header.colour == 3 else b"",
        transparency=found.get(b"tRNS"),
        profile=None if profile is None else profile.split(b"\0")[0].decode("latin-1"),
    )


def read_header(data: bytes) -> tuple[Header, int]:
    """Return IHDR and where the next chunk begins."""
    if not data.startswith(SIGNATURE):
        raise InvalidImage("it is not a PNG" if data else "it is empty")
    kind, body, at = read_chunk(data, len(SIGNATURE))
    if kind != b"IHDR" or len(body) != 13:
        raise InvalidImage("its first chunk is not a PNG header")
    width, height, depth, colour, packing, filtering, interlace = IHDR.unpack(body)
    if depth not in DEPTHS.get(colour, ()) or packing or filtering or interlace > 1:
        raise InvalidImage(f"its header is damaged: colour type {colour}, depth {depth}")
    return Header(width, height, depth, colour, interlaced=interlace == 1), at


def check_size(header: Header, limits: Limits) -> None:
    """Refuse what is too large to be decoded, by what the header says of it (C-33)."""
    size = f"it is {header.width} x {header.height} pixels"
    if not header.width or not header.height:
        raise InvalidImage(f"{size}: nothing to see")
    if max(header.width, header.height) > limits.side:
        raise InvalidImage(f"{size}; a side may have at most {limits.side}")
    if header.width * header.height > limits.pixels:
        raise InvalidImage(f"{size}; together at most {limits.pixels} are allowed")


def read_chunk(data: bytes, at: int) -> tuple[bytes, bytes, int]:
    """Return a chunk's kind and body and where the next one begins; its checksum holds."""
    length = int.from_bytes(data[at : at + 4], "big")
    end = at + 12 + length
    if at + 12 > len(data) or end > len(data):
        raise InvalidImage(f"it is cut off after {len(data)} bytes")
    checksum = int.from_bytes(data[end - 4 : end], "big")
    if zlib.crc32(memoryview(data)[at + 4 : end - 4]) != checksum:
        raise InvalidImage(f"it is damaged: wrong checksum at byte {at}")
    return data[at + 4 : at + 8], data[at + 8 : end - 4], end


def inflate(packed: bytes, wanted: int) -> bytes:
    """Inflate exactly `wanted` bytes; fewer, more or damaged ones are refused."""
    unpack = zlib.decompressobj()
    try:
        rows = unpack.decompress(packed, wanted)
        more = unpack.decompress(unpack.unconsumed_tail, 1)
    except zlib.error as error:
        raise InvalidImage(f"its pixels are damaged: {error}") from error
    if len(rows) < wanted:
        raise InvalidImage(f"rows are missing: {len(rows)} of {wanted} bytes")
    if more or not unpack.eof:
        raise InvalidImage("it has more pixels than its header says, or no end of them")
    return rows
