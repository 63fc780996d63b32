"""What a consumer of jobs is handed, and the shape of a handler (queue.md, section B).

Ids of builds and shards are passed on and mean nothing here.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

__all__ = ["Backoff", "ConsumerJob", "Hold", "KindHandler", "Run", "StopSignal", "StopWhy"]

Effects = TypeVar("Effects")
EffectsIn_contra = TypeVar("EffectsIn_contra", contravariant=True)

StopWhy = Literal["cancelled", "lost", "released"]


@dataclass(frozen=True, slots=True)
class ConsumerJob:
    """A claimed job as its handler sees it (JOB-12)."""

    job_id: str
    kind: str
    attempt: int
    owner: str
    step: Literal["plan", "shard", "reduce"] | None = None
    build_id: int | None = None
    shard_id: int | None = None
    failures: int = 0
    max_attempts: int = 3
    suspect: bool = False
    lease_ms: int = 60_000
    data: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    traceparent: str | None = None

    @property
    def attempts(self) -> int:
        """Return how many attempts were made before this one."""
        return self.attempt - 1

    @property
    def receipt(self) -> str:
        """Return the text that names this attempt outside of the database (JOB-2)."""
        return f"{self.job_id}#{self.attempt}"


class StopSignal(Protocol):
    """Set once, by whoever sees first that the job must be let go; read by the handler."""

    @property
    def why(self) -> StopWhy | None:
        """Return the reason, or None while the handler may go on."""
        ...

    def wait(self, timeout_s: float) -> StopWhy | None:
        """Wait until it is set, at most this long; return the reason or None."""
        ...


class Hold(Protocol[EffectsIn_contra]):
    """A handler's view of its claim. `begin` and `save` raise `Interrupted` or `LeaseLost`."""

    @property
    def stop_soon(self) -> StopSignal:
        """Return the signal that says: stop at the next safe place."""
        ...

    def touch(self) -> None:
        """Say that the work is getting on; writes at most once a throttle period (JOB-51)."""
        ...

    def begin(
        self, story: str, *, snapshot_id: int, index: int, of: int, deadline_s: float
    ) -> None:
        """Write down, before it begins, which story is in hand; also a touch (SUP-23)."""
        ...

    def save(self, effects: EffectsIn_contra) -> None:
        """Have results written now, behind the fence, in a transaction of its own (JOB-168)."""
        ...

    def keep_alive(self, *, at_most_ms: int) -> AbstractContextManager[None]:
        """Touch by itself around a step known to be silent, for at most this long (JOB-53)."""
        ...


Run = Callable[[ConsumerJob, Hold[Effects]], Effects]


@dataclass(frozen=True, slots=True)
class Backoff:
    """The wait after a failure: base * 2^n, at most the maximum (JOB-89)."""

    base_ms: int = 5_000
    max_ms: int = 300_000


@dataclass(frozen=True, slots=True)
class KindHandler(Generic[Effects]):
    """What does the jobs of one kind."""

    run: Run[Effects]
    accepts: Callable[[ConsumerJob], bool] | None = None
    backoff: Backoff | None = None
    cancel: Callable[[ConsumerJob], None] | None = None
