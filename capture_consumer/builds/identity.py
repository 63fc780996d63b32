"""What makes a story, a mode and a snapshot the same through history (builds.md, section 1).

A key is (story id, mode, browser) within project and name (BUILD-3). Titles,
kinds and names of modes are attributes: they may change freely.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from capture_consumer.errors import BadInput, PermanentError

__all__ = [
    "BROWSER_OF_IMAGES",
    "DEFAULT_MODE",
    "MODE_OF_IMAGES",
    "Mode",
    "canonical_mode",
    "check_commit",
    "check_slug",
    "check_story_id",
    "mode_from",
    "mode_name",
    "modes_of",
    "nfc",
    "split_ref",
    "story_of_path",
]

MODE_OF_IMAGES = "{}"
BROWSER_OF_IMAGES = "image"
STORY_ID_BYTES_MAX = 512
SIDE_MAX = 16_384
SCALE_MAX = 4
MODE_SETTINGS = {"width", "height", "scale", "globals", "media", "locale"}
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
REF = re.compile(r"(?:(?P<project>[^/]+)/)?#?(?P<number>[0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Mode:
    """How a story is shown. `width` and `height` are the viewport in CSS pixels."""

    name: str
    width: int
    height: int
    scale: float = 1
    globals: Mapping[str, Any] = field(default_factory=dict)
    media: Mapping[str, str] = field(default_factory=dict)
    locale: str | None = None

    @property
    def canonical(self) -> str:
        """Return the value that is the mode's identity; its name is not part of it."""
        return canonical_mode(
            {
                "width": self.width,
                "height": self.height,
                "scale": self.scale,
                "globals": self.globals,
                "media": self.media,
                "locale": self.locale,
            }
        )


DEFAULT_MODE = Mode("default", 1280, 720)


def nfc(text: str) -> str:
    """Return the text in Unicode's composed form, in which keys are compared."""
    return unicodedata.normalize("NFC", text)


def check_story_id(text: str) -> str:
    """Return the story id as it is stored (BUILD-4).

    Raises:
        BadInput: it is empty, longer than 512 bytes, or has a control character.
    """
    story_id = nfc(text)
    try:
        size = len(story_id.encode())
    except UnicodeEncodeError as error:
        raise BadInput("A story id has half of a surrogate pair in it.") from error
    if not 1 <= size <= STORY_ID_BYTES_MAX:
        raise BadInput(f"A story id has 1 to {STORY_ID_BYTES_MAX} bytes, this one has {size}.")
    if any(unicodedata.category(letter) == "Cc" for letter in story_id):
        raise BadInput(f"A story id has a control character in it: {story_id[:80]!r}.")
    return story_id


def check_slug(text: str) -> str:
    """Return the project's slug (BUILD-1), or raise BadInput."""
    if not SLUG.fullmatch(text):
        raise BadInput(
            f"{text[:80]!r} cannot be a project's name: use a-z, 0-9 and -, at most 63 of them."
        )
    return text


def check_commit(text: str) -> str:
    """Return the full commit hash (BUILD-7), or raise BadInput: short ones collide."""
    if not COMMIT.fullmatch(text):
        raise BadInput(f"{text[:80]!r} is not a full commit hash of 40 or 64 hex digits.")
    return text


def split_ref(text: str) -> tuple[str | None, int]:
    """Return project and number of a build named `[project/]number`, or raise BadInput."""
    found = REF.fullmatch(text)
    if found is None:
        raise BadInput(f"{text[:80]!r} names no build: write 12 or project/12.")
    return found["project"], int(found["number"])


def story_of_path(path: str) -> str:
    """Return the story id of a screenshot: its path with `/`, without extension (BUILD-6)."""
    folder, slash, name = path.replace("\\", "/").rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return check_story_id(f"{folder}{slash}{stem if dot and stem else name}")


def canonical_mode(settings: Mapping[str, Any]) -> str:
    """Return a mode's identity: JSON with sorted keys, whole pixels, nothing that is unset.

    Raises:
        BadInput: a setting is unknown or out of range (BUILD-5).
    """
    unknown = sorted(set(settings) - MODE_SETTINGS)
    if unknown:
        raise BadInput(f"A mode has no setting {unknown[0]!r}.")
    value = {
        "width": _pixels(settings.get("width", DEFAULT_MODE.width)),
        "height": _pixels(settings.get("height", DEFAULT_MODE.height)),
        "scale": _scale(settings.get("scale", 1)),
    } | {name: settings[name] for name in ("globals", "media", "locale") if settings.get(name)}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def mode_from(name: str, canonical: str) -> Mode:
    """Return the mode whose identity was stored."""
    return Mode(name, **json.loads(canonical))


def modes_of(configured: Mapping[str, Mapping[str, Any]]) -> tuple[Mode, ...]:
    """Return a project's modes by name, or the default one.

    Raises:
        PermanentError: `bad_mode`, or `duplicate_mode` when two have one value (BUILD-5).
    """
    if not configured:
        return (DEFAULT_MODE,)
    named: dict[str, Mode] = {}
    for name, settings in sorted(configured.items()):
        try:
            mode = mode_from(name, canonical_mode(settings))
        except BadInput as error:
            raise PermanentError("bad_mode", f"Mode {name!r}: {error}") from error
        twin = named.setdefault(mode.canonical, mode)
        if twin is not mode:
            raise PermanentError(
                "duplicate_mode",
                f"Modes {twin.name!r} and {name!r} have one and the same value.",
            )
    return tuple(named.values())


def mode_name(configured: Mapping[str, Mapping[str, Any]], canonical: str) -> str:
    """Return the configured name of a stored mode; its size when nobody names it any more."""
    if canonical == MODE_OF_IMAGES:
        return ""
    for name, settings in sorted(configured.items()):
        with suppress(BadInput):  # settings may have become bad since; names stay readable
            if canonical_mode(settings) == canonical:
                return name
    found = mode_from("", canonical)
    return DEFAULT_MODE.name if found.canonical == DEFAULT_MODE.canonical else _size(found)


def _size(mode: Mode) -> str:
    return f"{mode.width}x{mode.height}" + ("" if mode.scale == 1 else f"@{mode.scale:g}")


def _pixels(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise BadInput(f"{value!r} is not a whole number of pixels.")
    if not 1 <= value <= SIDE_MAX:
        raise BadInput(f"A side has 1 to {SIDE_MAX} pixels, not {value}.")
    return int(value)


def _scale(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{value!r} is not a scale.")
    if not 0 < value <= SCALE_MAX:
        raise BadInput(f"A scale is above 0 and at most {SCALE_MAX}, not {value}.")
    return int(value) if value == int(value) else value
