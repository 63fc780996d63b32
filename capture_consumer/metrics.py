"""Counters, gauges and times by name; they do nothing without `prometheus-client`.

A metric is declared here, once, and named by its constant elsewhere, so that
`docs/deploy.md` and the code cannot drift apart. Labels are few words from our own
lists, never a story, a build or a job: those are for the log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["METRICS", "Metric", "Metrics", "NoMetrics", "Prometheus", "open_metrics"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name, what it counts, and the labels it has."""

    name: str
    kind: Literal["counter", "gauge", "seconds"]
    does: str
    labels: tuple[str, ...] = ()


METRICS: tuple[Metric, ...] = (
    Metric("polls_total", "counter", "Polls of a queue", ("queue", "found")),
    Metric("claims_total", "counter", "Rows claimed", ("queue",)),
    Metric("claims_lost_total", "counter", "Claims that a rival won", ("queue",)),
    Metric("settled_total", "counter", "Claims settled, by how they ended", ("queue", "end")),
    Metric("settle_refused_total", "counter", "Settles that the fence refused", ("queue",)),
    Metric("lease_lost_total", "counter", "Leases lost by their holder", ("queue",)),
    Metric("reaped_total", "counter", "Attempts ended because their lease ran out", ("queue",)),
    Metric("stuck_builds_total", "counter", "Builds the sweep had to move; 0 in health"),
    Metric("perform_seconds", "seconds", "Time from claim to settle", ("queue", "kind")),
    Metric("jobs", "gauge", "Jobs by status", ("status",)),
    Metric("consumers", "gauge", "Consumers known to be up"),
)


class Metrics(Protocol):
    """Where numbers go."""

    def add(self, name: str, by: float = 1, **labels: str) -> None:
        """Add to a counter."""
        ...

    def put(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        ...

    def took(self, name: str, seconds: float, **labels: str) -> None:
        """Record how long something took."""
        ...


class NoMetrics:
    """Keeps nothing."""

    def add(self, name: str, by: float = 1, **labels: str) -> None:
        """Do nothing."""

    def put(self, name: str, value: float, **labels: str) -> None:
        """Do nothing."""

    def took(self, name: str, seconds: float, **labels: str) -> None:
        """Do nothing."""


class Prometheus:
    """Keeps numbers in a registry of `prometheus-client`, under the prefix `capture_`."""

    def __init__(self, client: Any) -> None:
        makers: Mapping[str, Any] = {
            "counter": client.Counter,
            "gauge": client.Gauge,
            "seconds": client.Histogram,
        }
        self.registry = client.CollectorRegistry()
        self._render = client.generate_latest
        self._made = {one.name: _make(makers[one.kind], one, self.registry) for one in METRICS}

    def add(self, name: str, by: float = 1, **labels: str) -> None:
        """Add to a counter."""
        self._labelled(name, labels).inc(by)

    def put(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._labelled(name, labels).set(value)

    def took(self, name: str, seconds: float, **labels: str) -> None:
        """Record how long something took."""
        self._labelled(name, labels).observe(seconds)

    def text(self) -> str:
        """Return all numbers in the format that Prometheus reads."""
        rendered: bytes = self._render(self.registry)
        return rendered.decode()

    def _labelled(self, name: str, labels: Mapping[str, str]) -> Any:
        made = self._made[name]
        return made.labels(**labels) if labels else made


def _make(maker: Any, metric: Metric, registry: Any) -> Any:
    labels: Sequence[str] = metric.labels
    return maker(f"capture_{metric.name}", metric.does, labels, registry=registry)


def open_metrics() -> Metrics:
    """Return metrics that keep numbers when the extra `metrics` is installed."""
    try:
        import prometheus_client  # noqa: PLC0415 - an extra; most processes run without it
    except ImportError:
        return NoMetrics()
    return Prometheus(prometheus_client)
