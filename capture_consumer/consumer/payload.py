"""A job's payload as text, and back: what is stored beside the columns (JOB-10, JOB-11)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Payload", "decode", "encode"]


@dataclass(frozen=True, slots=True)
class Payload:
    """What whoever enqueued a job sent along."""

    data: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    traceparent: str | None = None


def encode(payload: Payload) -> str | None:
    """Return the text to store, ASCII only; None when there is nothing to store.

    Raises:
        ValueError: the data holds what JSON has no word for.
    """
    parts: dict[str, Any] = {
        "request_id": payload.request_id,
        "traceparent": payload.traceparent,
        "data": dict(payload.data),
    }
    kept = {name: value for name, value in parts.items() if value}
    return json.dumps(kept, sort_keys=True, allow_nan=False) if kept else None


def decode(stored: str | None) -> Payload:
    """Return what was stored; whatever cannot be read is empty. Never raises (Q-60)."""
    try:
        parts = json.loads(stored or "{}")
    except (ValueError, RecursionError):
        return Payload()
    if not isinstance(parts, dict):
        return Payload()
    data = parts.get("data")
    return Payload(
        data=data if isinstance(data, dict) else {},
        request_id=text_or_none(parts.get("request_id")),
        traceparent=text_or_none(parts.get("traceparent")),
    )


def text_or_none(value: object) -> str | None:
    """Return the value when it is text."""
    return value if isinstance(value, str) else None
