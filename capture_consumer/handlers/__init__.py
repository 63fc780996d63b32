"""Plug-ins of jobs: a file or folder a kind, a file a step."""

import pkgutil
from collections.abc import Callable, Iterable, Mapping

from capture_consumer.builds.effects import Effects
from capture_consumer.builds.facts import Facts
from capture_consumer.clock import Clock
from capture_consumer.consumer.job import KindHandler
from capture_consumer.errors import BadInput
from capture_consumer.handlers.capture import CaptureHandler
from capture_consumer.handlers.capture.tools import Blobs, Camera

__all__ = ["Handlers", "handlers_for", "handlers_named"]

Handlers = Mapping[str, KindHandler[Effects]]


def handlers_for(
    facts: Facts,
    store: Blobs,
    camera: Callable[[], Camera] | None,
    *,
    clock: Clock,
    more: Iterable[str] = (),
) -> Handlers:
    """Return the handler of each kind of job (JOB-76).

    Args:
        facts: what handlers may ask of the rows.
        store: where bytes are kept.
        camera: the consumer's camera, or None without a browser.
        clock: whose instants hold.
        more: import paths of further kinds, which go before ours.
    """
    capture = CaptureHandler(facts, store, camera, clock=clock)
    kinds = {"capture": KindHandler(capture.run, accepts=capture.accepts)}
    for path in more:
        kinds |= handlers_named(path)
    return kinds


def handlers_named(path: str) -> Handlers:
    """Return the kinds that `package.module:NAME` has, a mapping of kind to handler.

    A plain function there is short for a handler that only runs.

    Raises:
        BadInput: there is no such mapping.
    """
    try:
        found = pkgutil.resolve_name(path)
        named = dict(found)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise BadInput(f"{path!r} names no mapping of kinds to handlers: {error}.") from error
    return {
        kind: one if isinstance(one, KindHandler) else KindHandler(one)
        for kind, one in named.items()
    }
