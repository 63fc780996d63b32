"""Logs by structlog: colours for people, JSON lines for machines, secrets masked.

Events go to standard error, one write a line, never to standard output, which belongs
to what a command prints. A line is at most 4,096 bytes (SUP-93); no text that a story
or a file made up can break one or hide a part of it.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

__all__ = ["clean", "set_up"]

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
LINE_BYTES = 4_096
SECRET_NAME = re.compile(r"password|passwd|secret|token|authorization|api_?key|cookie", re.I)
SECRET_IN_URL = re.compile(r"(?<=://)([^\s/:@]*):[^\s/@]*@")
NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]")
LONG = 1_000


def set_up(*, log_format: str, log_level: str, stream: TextIO | None = None) -> None:
    """Configure logging for this process; call it once, before the first event.

    Args:
        log_format: `console`, `json`, or `auto`: console when the stream is a terminal.
        log_level: the least severe event that is written.
        stream: standard error unless given.
    """
    out = stream or sys.stderr
    people = log_format == "console" or (log_format == "auto" and out.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(
                fmt="%H:%M:%S" if people else "iso", utc=not people
            ),
            structlog.processors.format_exc_info,
            mask,
            structlog.dev.ConsoleRenderer(colors=out.isatty() and "NO_COLOR" not in os.environ)
            if people
            else render_line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[log_level]),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )


def mask(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Return the event with secrets masked and every text made safe to print."""
    return {
        clean(str(key)): "***" if SECRET_NAME.search(str(key)) and value else safe(value)
        for key, value in event.items()
    }


def safe(value: Any) -> Any:
    """Return a value whose texts, at any depth, can be printed."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return mask(None, "", {str(key): inner for key, inner in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        return [safe(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return clean(str(value))


def clean(text: str) -> str:
    r"""Return the text, secrets masked, with what cannot be printed written as `\x..`."""
    masked = SECRET_IN_URL.sub(r"\1:***@", text)
    return NOT_TEXT.sub(lambda found: ascii(found.group())[1:-1], masked)


def render_line(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """Return one JSON line of at most 4,096 bytes; the longest texts are cut first."""
    first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    whole = {**first, **event}
    line = json.dumps(whole, ensure_ascii=False)
    most = LONG
    while len(line.encode()) >= LINE_BYTES and most > 1:
        line = json.dumps(shorter(whole, most), ensure_ascii=False)
        most //= 2
    return line


def shorter(event: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    """Return the event with each value that is longer cut to `most` characters of text.

    Of a traceback the end is kept, of everything else the beginning.
    """
    cut: dict[str, Any] = {}
    for key, value in event.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) <= most:
            cut[key] = value
        else:
            cut[key] = f"…{text[-most:]}" if key == "exception" else f"{text[:most]}…"
    return cut
