"""Handlers by kind, as they are given: a function, a `KindHandler`, or a name to import."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from capture_consumer.consumer.job import ConsumerJob, Hold, KindHandler

__all__ = ["JobHandlers", "resolved"]

JobHandlers = Mapping[str, KindHandler[Any] | Callable[[ConsumerJob, Hold[Any]], Any] | str]


def resolved(handlers: JobHandlers) -> Mapping[str, KindHandler[Any]]:
    """Return handlers as `KindHandler`s; a string `package.module:name` is imported.

    Raises:
        ValueError: a name does not lead to anything that can be called.
    """
    return {kind: one_resolved(kind, given) for kind, given in handlers.items()}


def one_resolved(kind: str, given: object) -> KindHandler[Any]:
    """Return the handler that was given for a kind."""
    found = imported(kind, given) if isinstance(given, str) else given
    if isinstance(found, KindHandler):
        return found
    if callable(found):
        return KindHandler(run=found)
    raise ValueError(f"the handler of kind {kind} is neither a function nor a KindHandler")


def imported(kind: str, path: str) -> object:
    """Return what a name `package.module:name` stands for."""
    module, colon, name = path.partition(":")
    if not colon:
        raise ValueError(f"the handler of kind {kind} must be named package.module:name")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"the handler of kind {kind} cannot be imported: {error}") from error
