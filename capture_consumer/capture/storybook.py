"""A built Storybook as it was submitted: its files, its index, its stories' addresses.

`read_index` trusts nothing: what it cannot use fails the plan with one line
(BUILD-26), what one entry alone has wrong fails that entry (BUILD-27).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from capture_consumer.builds.identity import Mode, check_story_id, nfc
from capture_consumer.capture import strictly
from capture_consumer.errors import BadInput, PermanentError

__all__ = ["PREVIEW", "Entry", "Index", "Site", "address_of", "index_file", "read_index"]

PREVIEW = "iframe.html"
INDEX_FILES = ("index.json", "stories.json")
VERSIONS = (3, 4, 5)


@dataclass(frozen=True, slots=True)
class Site:
    """What is served to a page: files by path, and how to get one by its hash.

    `read` is called from other threads than the camera's. `allow` lists hosts outside that
    pages may ask (`cdn.example.com`, `*.example.com`); nothing else is reached (CAP-8).
    """

    files: Mapping[str, str]
    read: Callable[[str], bytes]
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One story of the index. With a `problem` it cannot be captured (code `bad_entry`)."""

    id: str
    title: str = ""
    name: str = ""
    tags: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """What an `index.json` or `stories.json` says: its stories in their order."""

    version: int
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = field(default=())


def index_file(paths: Mapping[str, Any]) -> str | None:
    """Return the path of the index among these files, or None when there is none."""
    return next((name for name in INDEX_FILES if name in paths), None)


def read_index(data: bytes) -> Index:
    """Read an index of version 3, 4 or 5 (CAP-11).

    Raises:
        PermanentError: `bad_index`, `duplicate_id` or `no_stories`, with the cause in one line.
    """
    document = strictly.read(data)
    if not isinstance(document, dict):
        raise _bad("its top level is not an object")
    version = document.get("v")
    if version not in VERSIONS or isinstance(version, bool):
        raise _bad_version(document)
    name = "stories" if version == min(VERSIONS) else "entries"
    found = document.get(name)
    if not isinstance(found, dict):
        raise _bad(f"its {name!r} is missing or not an object")
    _refuse_doubles(document, name, found)
    return _index(version, found)


def address_of(origin: str, story_id: str, mode: Mode) -> str:
    """Return the address at which the preview shows a story; the id is encoded once."""
    asked = {"id": story_id, "viewMode": "story"}
    if mode.globals:
        pairs = sorted(mode.globals.items())
        asked["globals"] = ";".join(f"{name}:{value}" for name, value in pairs)
    return f"{origin}/{PREVIEW}?{urlencode(asked, quote_via=quote, safe='')}"


def _bad(why: str) -> PermanentError:
    return PermanentError("bad_index", f"The Storybook's index cannot be used: {why}.")


def _bad_version(document: Mapping[str, Any]) -> PermanentError:
    if "v" not in document:
        return _bad("it does not say its version")
    said = str(document["v"])[:20]
    return _bad(
        f"it is of version {said}, and versions 3, 4 and 5 are read (Storybook 7 to 10)"
    )


def _refuse_doubles(document: Any, name: str, found: Any) -> None:
    doubles = strictly.doubles_of(found)
    if doubles:
        raise _duplicate(doubles)
    if strictly.doubles_of(document):
        raise _bad(f"it has the key {strictly.doubles_of(document)[0]!r} twice")
    seen: dict[str, str] = {}
    for key in found:
        other = seen.setdefault(nfc(key), key)
        if other is not key:
            raise _duplicate([other, key])
    inner = next((key for key, entry in found.items() if strictly.doubles_of(entry)), None)
    if inner is not None:
        raise _bad(f"entry {inner[:80]!r} of its {name!r} has a key twice")


def _duplicate(keys: Sequence[str]) -> PermanentError:
    named = ", ".join(ascii(key[:80]) for key in keys[:4])
    return PermanentError("duplicate_id", f"The index has stories of one id: {named}.")


def _index(version: int, found: Mapping[str, Any]) -> Index:
    entries: list[Entry] = []
    warnings: list[str] = []
    for key, told in found.items():
        if _is_docs(told):
            continue
        entries.append(_entry(key, told))
        own = told.get("id") if isinstance(told, dict) else None
        if own is not None and own != key:
            warnings.append(f"The entry {key[:80]!r} calls itself {str(own)[:80]!r}.")
    if not entries:
        raise PermanentError("no_stories", "The Storybook's index has no stories.")
    return Index(version, tuple(entries), tuple(warnings))


def _is_docs(told: Any) -> bool:
    if not isinstance(told, dict):
        return False
    parameters = told.get("parameters")
    docs_only = isinstance(parameters, dict) and parameters.get("docsOnly") is True
    return told.get("type") == "docs" or docs_only


def _entry(key: str, told: Any) -> Entry:
    try:
        story_id = check_story_id(key)
    except BadInput as error:
        return Entry(_harmless(key), problem=str(error))
    if not isinstance(told, dict):
        return Entry(story_id, problem="The entry is not an object.")
    title: Any = told.get("title", told.get("kind", ""))
    name: Any = told.get("name", "")
    tags: Any = told.get("tags", [])
    problem = _problem(key, story_id, title, name, tags)
    if problem:
        return Entry(story_id, problem=problem)
    return Entry(story_id, title, name, tuple(tags))


def _problem(key: str, story_id: str, title: Any, name: Any, tags: Any) -> str | None:
    if key != story_id:
        return "The story's id is not in Unicode's composed form (NFC)."
    if not isinstance(title, str) or not isinstance(name, str):
        return "The entry's title or name is not a text."
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "The entry's tags are not a list of texts."
    return None


def _harmless(key: str) -> str:
    """Return an id that can be stored for one that cannot: what is bad in it is spelled out."""
    spelled = ascii(nfc(key))[1:-1] or "(empty)"
    return spelled[:512]
