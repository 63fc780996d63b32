"""The black box of a slot: a 4 KiB map that outlives the process (SUP-23).

Three parts. The label is the supervisor's: whose box it is. The words are the child's:
what is in hand, written before it begins, in two halves in turn, so that a child killed
in the middle of a write leaves the words before it. The tree is the child's too: the
processes below it that are in sessions of their own, to be found should all else die.

A half is a sequence number, a length, JSON, and the number again.
"""

import json
import mmap
import os
import struct
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from capture_consumer.ipc.identity import ProcessId

__all__ = ["Box", "Label", "Words"]

BOX_BYTES = 4096
LABEL_AT, LABEL_BYTES = 0, 512
HALVES_AT, HALF_BYTES = 512, 1408
TREE_AT, TREE_BYTES = 3328, 768
HEAD = struct.Struct("<QI")
TAIL = struct.Struct("<Q")
TREE_MEMBERS_MAX = 30
ROOM = HALF_BYTES - HEAD.size - TAIL.size


@dataclass(frozen=True, slots=True)
class Label:
    """Whose box it is."""

    slot: int
    role: str
    incarnation: str
    pid: int = 0
    start: int = 0
    boot: str = ""
    namespace: str = ""

    @property
    def process(self) -> ProcessId:
        """Return the identity of the process."""
        return ProcessId(self.pid, self.start, self.boot, self.namespace)


@dataclass(frozen=True, slots=True)
class Words:
    """What is in hand. `at_s` is the boot clock; `cut`: the story's name did not fit."""

    seq: int = 0
    phase: str = "boot"
    owner: str = ""
    job: str | None = None
    attempt: int | None = None
    kind: str = ""
    step: str | None = None
    build: int | None = None
    shard: int | None = None
    snapshot: int | None = None
    story: str | None = None
    at_s: float = 0.0
    cut: bool = False


class Box:
    """A mapped box; both sides have one on the same file."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(fd, BOX_BYTES)
            self.map = mmap.mmap(fd, BOX_BYTES)
        finally:
            os.close(fd)
        if fresh:
            self.map[:] = bytes(BOX_BYTES)

    def close(self) -> None:
        """Give the map back; the file stays."""
        self.map.close()

    def label(self, label: Label) -> None:
        """Write whose box it is."""
        self.put(LABEL_AT, LABEL_BYTES, asdict(label))

    def read_label(self) -> Label | None:
        """Return whose box it is, None when nobody's."""
        label: Label | None = made_of(Label, self.get(LABEL_AT, LABEL_BYTES))
        return label

    def write(self, words: Words) -> None:
        """Write what is in hand; the half that holds the words before stays as it is."""
        body = dump(words)
        if len(body) > ROOM:
            body = dump(replace(words, story=None, cut=True))
        at = HALVES_AT + words.seq % 2 * HALF_BYTES
        # The numbers differ while the text between them is not whole.
        self.map[at : at + HEAD.size] = HEAD.pack(words.seq, len(body))
        self.map[at + HEAD.size : at + HEAD.size + len(body)] = body
        end = at + HALF_BYTES
        self.map[end - TAIL.size : end] = TAIL.pack(words.seq)

    def read(self) -> Words | None:
        """Return the newest whole words, None when there are none."""
        halves = [self.half(number) for number in (0, 1)]
        whole = [words for words in halves if words]
        return max(whole, key=lambda words: words.seq, default=None)

    def half(self, number: int) -> Words | None:
        """Return the words in one half, None when it is empty or torn."""
        at = HALVES_AT + number * HALF_BYTES
        seq, length = HEAD.unpack_from(self.map, at)
        (again,) = TAIL.unpack_from(self.map, at + HALF_BYTES - TAIL.size)
        if not seq or seq != again or length > ROOM:
            return None
        text = self.map[at + HEAD.size : at + HEAD.size + length]
        words: Words | None = made_of(Words, loaded(text))
        return words

    def write_tree(self, members: list[tuple[int, int]]) -> None:
        """Write which processes (pid, start) belong to this one, as many as fit."""
        self.put(TREE_AT, TREE_BYTES, {"tree": members[:TREE_MEMBERS_MAX]})

    def read_tree(self) -> list[tuple[int, int]]:
        """Return the processes (pid, start) written last."""
        told = self.get(TREE_AT, TREE_BYTES) or {}
        return [(int(pid), int(start)) for pid, start in told.get("tree", [])]

    def put(self, at: int, size: int, body: dict[str, Any]) -> None:
        """Write one part whole, padded with zeros."""
        text = json.dumps(body, separators=(",", ":")).encode()
        assert len(text) <= size, "a part of the box is too small for this"
        self.map[at : at + size] = text.ljust(size, b"\0")

    def get(self, at: int, size: int) -> dict[str, Any] | None:
        """Return one part, None when it was never written or is torn."""
        return loaded(self.map[at : at + size].rstrip(b"\0"))


def dump(words: Words) -> bytes:
    """Return words as JSON; what is none is left out."""
    told = {
        name: value for name, value in asdict(words).items() if value not in (None, "", False)
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def loaded(text: bytes) -> dict[str, Any] | None:
    """Return the JSON object in these bytes, None when there is none."""
    try:
        told = json.loads(text) if text else None
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def made_of(kind: type[Any], told: dict[str, Any] | None) -> Any:
    """Return a Label or Words of what was read, without what it does not know."""
    if told is None:
        return None
    known = {one.name for one in fields(kind)}
    try:
        return kind(**{name: value for name, value in told.items() if name in known})
    except TypeError:
        return None
