"""This supervisor's row, for people and for dealing shards; no claim depends on it (SUP-36)."""

import json
import socket
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from capture_consumer import __version__
from capture_consumer.clock import Clock
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import again
from capture_consumer.tables import supervisors

__all__ = ["Pulse"]


@dataclass(frozen=True, slots=True)
class Pulse:
    """Says every now and then that a supervisor is up, and with how many consumers."""

    engine: Engine
    clock: Clock
    incarnation: str
    started_at: datetime
    health: Path
    """The file in which the supervisor says what it keeps."""
    draining: threading.Event

    def beat(self) -> None:
        """Write the row, anew should somebody have pruned it."""
        again(
            self.engine,
            lambda tx: supervisors.beat(
                tx,
                incarnation=self.incarnation,
                host=socket.gethostname(),
                version=__version__,
                slots=slots_in(self.health),
                draining=self.draining.is_set(),
                started_at=self.started_at,
                now=self.clock.now(),
            ),
        )

    def leave(self) -> None:
        """Take the row away."""
        again(self.engine, lambda tx: supervisors.leave(tx, self.incarnation), tries=1)


def slots_in(health: Path) -> int:
    """Return how many consumers the supervisor says it keeps; 0 before it said so."""
    try:
        return len(json.loads(health.read_bytes())["slots"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
