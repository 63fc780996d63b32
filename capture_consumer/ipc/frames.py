"""Frames on a pipe: length, kind, version, JSON; torn ones are told from whole ones.

A frame is at most 4 096 bytes and is written by one `write`, which a pipe takes
whole or not at all. So frames of several threads never mix, and a killed child
leaves at most one torn frame, its last (SUP-21).
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["FRAME_BYTES_MAX", "Frame", "FrameBroken", "FrameTooLong", "Frames", "encode"]

FRAME_BYTES_MAX = 4096
VERSION = 1
HEAD = struct.Struct(">IBB")
LENGTH_BYTES = 4


class FrameBroken(Exception):
    """What came over the pipe is no frame of ours; whoever sent it must not go on (71)."""


class FrameTooLong(Exception):
    """A message does not fit into one frame; the caller shortens it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One whole frame as it came."""

    kind: int
    version: int
    body: dict[str, Any]


def encode(kind: int, body: dict[str, Any]) -> bytes:
    """Return the bytes of one frame.

    The length counts what follows it: kind, version and JSON.

    Raises:
        FrameTooLong: it would be more than `FRAME_BYTES_MAX` bytes.
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )
    if HEAD.size + len(text) > FRAME_BYTES_MAX:
        raise FrameTooLong(f"{HEAD.size + len(text)} bytes")
    return HEAD.pack(HEAD.size - LENGTH_BYTES + len(text), kind, VERSION) + text


class Frames:
    """Bytes in, whole frames out; keeps the torn rest until more of it comes."""

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield each frame that is whole by now.

        Raises:
            FrameBroken: the bytes can never become a frame.
        """
        self.rest += data
        while len(self.rest) >= LENGTH_BYTES:
            whole = LENGTH_BYTES + int.from_bytes(self.rest[:LENGTH_BYTES], "big")
            if not HEAD.size < whole <= FRAME_BYTES_MAX:
                raise FrameBroken(f"a frame of {whole} bytes")
            if len(self.rest) < whole:
                return
            frame = decode(bytes(self.rest[:whole]))
            del self.rest[:whole]
            yield frame

    @property
    def torn(self) -> int:
        """Return how many bytes of an unfinished frame are kept."""
        return len(self.rest)


def decode(data: bytes) -> Frame:
    """Return the one frame that these bytes are."""
    _, kind, version = HEAD.unpack_from(data)
    try:
        body = json.loads(data[HEAD.size :])
    except (ValueError, RecursionError) as error:
        raise FrameBroken("its body is not JSON") from error
    if not isinstance(body, dict):
        raise FrameBroken("its body is no object")
    return Frame(kind, version, body)
