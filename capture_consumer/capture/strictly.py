"""JSON as it must be: no key twice, no NaN, not endless and not endlessly deep.

An ordinary parser keeps the last of two equal keys without a word; a story
would be lost that way (BUILD-26).
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from capture_consumer.errors import PermanentError

__all__ = ["doubles_of", "read"]

BYTES_MAX = 50_000_000
LEVELS_MAX = 100
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Doubled(dict[str, Any]):
    """An object of which some keys stood there more than once."""

    doubles: tuple[str, ...] = ()


def doubles_of(value: Any) -> tuple[str, ...]:
    """Return the keys that stood in this object more than once."""
    return value.doubles if isinstance(value, _Doubled) else ()


def read(data: bytes) -> Any:
    """Read UTF-8 JSON, with or without a byte-order mark.

    Raises:
        PermanentError: `bad_index`, with the cause in one line.
    """
    if len(data) > BYTES_MAX:
        raise _bad(f"it has {len(data) / 1e6:.0f} MB, and {BYTES_MAX / 1e6:.0f} are allowed")
    try:
        text = data.removeprefix(BYTE_ORDER_MARK).decode()
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise _bad("it is not UTF-8") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise _bad(_cause(data, error)) from error
    _check_levels(value)
    return value


def _bad(why: str) -> PermanentError:
    return PermanentError("bad_index", f"The Storybook's index cannot be used: {why}.")


def _too_deep() -> PermanentError:
    return _bad(f"it is nested deeper than {LEVELS_MAX} levels")


def _cause(data: bytes, error: ValueError) -> str:
    start = data.removeprefix(BYTE_ORDER_MARK)[:200].lstrip()
    if not start:
        return "it is empty"
    if start.startswith(b"<"):
        return "it is not JSON but a page of HTML"
    return f"it is not JSON ({str(error)[:120]})"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    doubled = _Doubled(value)
    doubled.doubles = tuple(
        dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    )
    return doubled


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _check_levels(value: Any) -> None:
    level = [value]
    for _ in range(LEVELS_MAX):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (inner for inner in value.values() if isinstance(inner, dict | list))
    elif isinstance(value, list):
        yield from (inner for inner in value if isinstance(inner, dict | list))
