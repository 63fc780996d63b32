"""What an index of a Storybook may look like, and what is said of one that cannot be used."""

import json

import pytest

from capture_consumer.builds.identity import Mode
from capture_consumer.capture.storybook import address_of, index_file, read_index
from capture_consumer.errors import PermanentError

ENTRY = {"type": "story", "id": "a--b", "title": "A", "name": "B", "tags": ["test"]}


def index(entries, version=5):
    return json.dumps({"v": version, "entries": entries}).encode()


@pytest.mark.parametrize("version", [4, 5])
def test_stories_are_read_in_their_order_and_docs_left_out(version):
    """CAP-11, BUILD-26."""
    docs = {"type": "docs", "id": "a--docs", "title": "A", "name": "Docs"}
    later = ENTRY | {"id": "a--c"}

    read = read_index(index({"a--docs": docs, "a--b": ENTRY, "a--c": later}, version))

    assert [entry.id for entry in read.entries] == ["a--b", "a--c"]
    assert read.entries[0].title == "A"
    assert read.entries[0].name == "B"
    assert read.entries[0].tags == ("test",)
    assert read.version == version


def test_version_3_has_stories_with_kinds():
    """CAP-11."""
    stories = {
        "a--b": {"id": "a--b", "kind": "A", "name": "B"},
        "a--d": {"id": "a--d", "kind": "A", "name": "D", "parameters": {"docsOnly": True}},
    }

    read = read_index(json.dumps({"v": 3, "stories": stories}).encode())

    assert [(entry.id, entry.title) for entry in read.entries] == [("a--b", "A")]


def test_a_byte_order_mark_alone_is_accepted():
    """C-25, BUILD-26."""
    assert read_index(b"\xef\xbb\xbf" + index({"a--b": ENTRY})).entries


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "it is empty"),
        (b"<!doctype html><title>404</title>", "it is not JSON but a page of HTML"),
        (b"{", "it is not JSON ("),
        (b"[]", "its top level is not an object"),
        (b"{}", "it does not say its version"),
        (b'{"v": 5}', "its 'entries' is missing"),
        (b'{"v": 5, "entries": []}', "its 'entries' is missing or not an object"),
        (index({"a--b": ENTRY}, 99), "it is of version 99"),
        (index({"a--b": ENTRY}, 2), "it is of version 2, and versions 3, 4 and 5 are read"),
        (b'{"v": NaN, "entries": {}}', "NaN is no number"),
        (b'\xff\xfe{\x00"\x00', "it is not UTF-8"),
        (b'{"v": 5, "entries": {}, "x": ' + b" " * 50_000_000 + b"1}", "50 are allowed"),
        (b"[" * 10_000 + b"]" * 10_000, "deeper than 100 levels"),
        (b'{"v":5,"x":' + b"[" * 150 + b"]" * 150 + b"}", "deeper than 100 levels"),
        (b'{"v": 5, "v": 5, "entries": {}}', "it has the key 'v' twice"),
    ],
    ids=range(15),
)
def test_an_index_that_cannot_be_used_says_why_in_one_line(data, cause):
    """C-25, BUILD-26."""
    with pytest.raises(PermanentError) as told:
        read_index(data)

    assert told.value.code == "bad_index"
    assert cause in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b'{"v": 5, "entries": {"a--b": {}, "c--d": {}, "a--b": {}}}', "'a--b'"),
        (index({"a--\u00e9": ENTRY, "a--e\u0301": ENTRY}), "'a--\\xe9', 'a--e\\u0301'"),
    ],
    ids=["in the text", "after normalising"],
)
def test_one_id_twice_is_refused_and_named(data, named):
    """C-26, BUILD-26."""
    with pytest.raises(PermanentError) as told:
        read_index(data)

    assert told.value.code == "duplicate_id"
    assert named in str(told.value)


def test_an_index_without_stories_says_so():
    """C-25, BUILD-29."""
    with pytest.raises(PermanentError) as told:
        read_index(index({}))

    assert told.value.code == "no_stories"


def test_a_bad_entry_fails_alone():
    """BUILD-27, C-27."""
    entries = {
        "a--b": ENTRY,
        "a--nul\x00": ENTRY,
        "a--list": [],
        "a--title": {"title": 7},
        "a--tags": {"tags": "test"},
        "a--e\u0301": ENTRY,
    }

    read = read_index(index(entries))

    problems = {entry.id: entry.problem for entry in read.entries}
    assert problems["a--b"] is None
    assert all(problems[name] for name in problems if name != "a--b")
    assert len(problems) == len(entries)
    assert "a--nul\\x00" in problems


def test_an_entry_that_calls_itself_otherwise_is_a_warning():
    """BUILD-27."""
    read = read_index(index({"a--b": ENTRY | {"id": "other"}}))

    assert read.entries[0].id == "a--b"
    assert read.warnings == ("The entry 'a--b' calls itself 'other'.",)


def test_a_story_s_address_encodes_its_id_once():
    """C-27, BUILD-4."""
    mode = Mode("dark", 800, 600, globals={"theme": "dark"})

    address = address_of("http://127.0.0.1:1", "a--é&b/😀", mode)

    assert address == (
        "http://127.0.0.1:1/iframe.html?id=a--%C3%A9%26b%2F%F0%9F%98%80"
        "&viewMode=story&globals=theme%3Adark"
    )


def test_the_newer_index_is_preferred():
    """CAP-11."""
    assert index_file({"stories.json": 1, "index.json": 1}) == "index.json"
    assert index_file({"stories.json": 1}) == "stories.json"
    assert index_file({"x": 1}) is None
