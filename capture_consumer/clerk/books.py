"""Deaths from the supervisor into the ledger, each acknowledged once it is booked.

A death is ended at once, fenced by the dead process's owner id, so booking one twice,
or after its own settle, changes nothing (SUP-26, SUP-31). While the database is away
the order waits here and the supervisor keeps its copy.
"""

import queue
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import structlog

from capture_consumer.builds.effects import KeepContent, StoredBlob
from capture_consumer.clerk.heard import Heard
from capture_consumer.clock import Clock
from capture_consumer.consumer.budget import LIMITS, Limits
from capture_consumer.consumer.outcome import Crashed, End, Lost, Released, TimedOut
from capture_consumer.database.engine import Engine
from capture_consumer.database.hints import JOBS, announce
from capture_consumer.database.transaction import Tx, again, reading
from capture_consumer.errors import DatabaseAway, StoreUnusable
from capture_consumer.ipc import messages
from capture_consumer.records.effects import write
from capture_consumer.records.ending import Ended, end_attempt, tell
from capture_consumer.tables import attempts
from capture_consumer.tables.attempts import AttemptRow

__all__ = ["Books", "Ledger", "Timer"]

TAIL_BYTES = 16 * 1024
WAIT_MOST_S = 5.0
LOST_TEXT = "found open after a restart: the supervisor that held it is gone"

log = structlog.get_logger()


class Blobs(Protocol):
    """The part of a store that keeps traces."""

    def put(self, data: bytes) -> str:
        """Keep bytes, return their hash."""
        ...


@dataclass(frozen=True, slots=True)
class Ledger:
    """Writes ends of attempts that their holder cannot write any more."""

    engine: Engine
    clock: Clock
    store: Blobs
    traces: Path
    """The folder that a death's trace file is named in."""
    limits: Limits = LIMITS

    def death(self, facts: Mapping[str, Any]) -> None:
        """End what the dead process held: the job in hand, and what it had not begun.

        Raises:
            DatabaseAway: nothing was written, or it is not known; call again.
        """
        owner = str(facts.get("owner") or "")
        if not owner:
            return
        job = facts.get("job") if facts.get("holding", True) else None
        for held in self.open_of(owner):
            if (held.job_id, held.attempt) == (job, facts.get("attempt")):
                trace = self.keep_trace(facts)
                self.end(held, end_of(facts, trace), trace)
            else:
                self.end(held, Released())

    def old(self, incarnations: tuple[str, ...]) -> None:
        """End as lost what earlier supervisors of this folder left open (SUP-33)."""
        with reading(self.engine) as tx:
            left = attempts.open_of_incarnations(tx, incarnations) if incarnations else []
        for held in left:
            self.end(held, Lost(code="restarted", text=LOST_TEXT, story=held.story))

    def open_of(self, owner: str) -> list[AttemptRow]:
        """Return the open attempts of a process's life."""
        with reading(self.engine) as tx:
            return list(attempts.open_of_owner(tx, owner))

    def end(self, held: AttemptRow, end: End, trace: StoredBlob | None = None) -> None:
        """End one attempt; somebody else may have been first."""

        def write_end(tx: Tx) -> Ended | None:
            if trace is not None:
                write(tx, (KeepContent(blobs=(trace,)),), now=self.clock.now())
            ended = end_attempt(
                tx,
                job_id=held.job_id,
                attempt=held.attempt,
                owner=held.owner,
                end=end,
                now=self.clock.now(),
                limits=self.limits,
            )
            if ended is None:
                tx.rollback()
            return ended

        ended = again(self.engine, write_end)
        if ended is not None:
            tell(ended)
            announce(self.engine, JOBS)

    def keep_trace(self, facts: Mapping[str, Any]) -> StoredBlob | None:
        """Keep the tail of the trace that a death names; None when there is none."""
        name = facts.get("trace")
        if not name:
            return None
        try:
            tail = (self.traces / Path(str(name)).name).read_bytes()[-TAIL_BYTES:]
            return StoredBlob(self.store.put(tail), len(tail), "trace") if tail else None
        except (OSError, StoreUnusable) as error:
            log.warning("books.no_trace", error=str(error))
            return None


def end_of(facts: Mapping[str, Any], trace: StoredBlob | None) -> End:
    """Return the end that the facts of a death amount to."""
    kinds: dict[str, type[Crashed | TimedOut | Lost]] = {
        "timed_out": TimedOut,
        "lost": Lost,
        "crashed": Crashed,
    }
    kind = kinds.get(str(facts.get("end")))
    if kind is None:
        return Released(code=facts.get("code"))
    return kind(
        code=str(facts.get("code") or facts.get("end")),
        text=str(facts.get("text") or "the consumer died"),
        signal=facts.get("signal"),
        exit_code=facts.get("exit_code"),
        oom=bool(facts.get("oom")),
        peak_rss=facts.get("peak_rss"),
        story=facts.get("story"),
        exact=bool(facts.get("exact")),
        trace_sha=trace.sha if trace else None,
    )


@dataclass
class Timer:
    """Something the books' thread does besides, every so many seconds."""

    every_s: float
    do: Callable[[], object]
    due_s: float = 0.0


@dataclass
class Books:
    """The books' thread: orders first, timers between them.

    Args:
        ledger: where ends are written.
        ack: tells the supervisor that death n is booked.
        elapsed: seconds, of which only differences mean anything.
        timers: the reap, the chores, the beat.
    """

    ledger: Ledger
    ack: Callable[[int], None]
    elapsed: Callable[[], float]
    timers: list[Timer] = field(default_factory=list)
    heard: Heard = field(default_factory=Heard)

    def __post_init__(self) -> None:
        """Take what was heard already, while this process booted."""
        self.orders = self.heard.orders
        self.leaving, self.draining = self.heard.leaving, self.heard.draining

    def hear(self, order: messages.Order) -> None:
        """Take an order; called on the control thread."""
        self.heard.hear(order)

    def run(self) -> None:
        """Work until told to leave and every order heard by then is done."""
        while not (self.leaving.is_set() and self.orders.empty()):
            try:
                order = self.orders.get(timeout=self.pause_s())
            except queue.Empty:
                self.do_what_is_due()
            else:
                self.obey(order)

    def pause_s(self) -> float:
        """Return how long the thread may wait for an order."""
        due_s = min((timer.due_s for timer in self.timers), default=self.elapsed() + 1.0)
        return 0.0 if self.leaving.is_set() else max(0.0, min(1.0, due_s - self.elapsed()))

    def do_what_is_due(self) -> None:
        """Run the timers whose time has come."""
        for timer in self.timers:
            if timer.due_s <= self.elapsed():
                timer.due_s = self.elapsed() + timer.every_s
                guarded(timer.do)

    def obey(self, order: messages.Order) -> None:
        """Do one order; the books' own ones until they are done (SUP-31)."""
        match order:
            case messages.Death(n=n, facts=facts):
                self.book(lambda: self.ledger.death(facts), n)
            case messages.Old(incarnations=incarnations):
                self.book(lambda: self.ledger.old(incarnations), 0)
            case _:
                return

    def book(self, do: Callable[[], None], n: int) -> None:
        """Do it, again while the database is away, then acknowledge."""
        wait_s = 0.2
        while True:
            try:
                do()
            except DatabaseAway as error:
                log.warning("books.database_away", death=n, error=str(error))
                if self.leaving.wait(wait_s):
                    return  # The spool keeps it for the next clerk.
                wait_s = min(wait_s * 2, WAIT_MOST_S)
            else:
                self.ack(n)
                return


def guarded(do: Callable[[], object]) -> None:
    """Run a timer's work; an error of it is told and ends nothing."""
    try:
        do()
    except DatabaseAway as error:
        log.warning("clerk.database_away", error=str(error))
    except Exception:
        log.exception("clerk.timer_failed")
