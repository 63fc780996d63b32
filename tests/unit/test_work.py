"""The flow: claim, perform, settle; on a queue of one row."""

from dataclasses import dataclass, field

from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from capture_consumer.consumer.outcome import Done, Failed, Outcome, Released, perform
from capture_consumer.consumer.queue import Claim
from capture_consumer.consumer.work import work
from capture_consumer.errors import (
    DatabaseAway,
    Interrupted,
    LeaseLost,
    NotNow,
    PermanentError,
)


@dataclass
class OneRow:
    """A queue with one row to claim."""

    ours: bool = True
    rows: int = 1
    settled: list[Outcome[str]] = field(default_factory=list)
    name: str = "jobs"

    def claim(self, *, limit: int) -> list[Claim[int]]:
        return [Claim(f"job {n}", 2, n) for n in range(7, 7 + min(limit, self.rows))]

    def perform(self, claim: Claim[int]) -> Outcome[str]:
        if not self.ours:
            raise LeaseLost(queue="jobs", key=claim.key, attempt=claim.attempt)
        return Done("effects")

    def settle(self, claim: Claim[int], outcome: Outcome[str]) -> bool:
        self.settled.append(outcome)
        return True


def raising(error):
    def run():
        raise error

    return perform(run)


def test_what_is_done_is_settled_with_its_effects():
    queue = OneRow()

    assert work(queue) == 1
    assert queue.settled == [Done("effects")]


def test_a_lost_lease_is_told_once_and_nothing_is_settled():
    """JOB-96, COM-7."""
    queue = OneRow(ours=False)

    with capture_logs(processors=[merge_contextvars]) as told:
        assert work(queue) == 1

    assert queue.settled == []
    assert told == [
        {
            "event": "lease_lost",
            "log_level": "warning",
            "queue": "jobs",
            "key": "job 7",
            "attempt": 2,
        }
    ]


def test_what_was_claimed_and_not_begun_at_a_stop_is_released():
    """JOB-112, R15."""
    queue = OneRow(rows=3)
    asked = iter([False, True, True])

    assert work(queue, limit=3, stopping=lambda: next(asked)) == 3
    assert queue.settled == [Done("effects"), Released(), Released()]


def test_what_a_handler_raises_says_how_its_work_ended():
    """JOB-88, JOB-91, JOB-100, R3: a database that is away is nobody's failure."""
    assert raising(ValueError("no")) == Failed("error", "no")
    assert raising(ValueError()) == Failed("error", "ValueError")
    assert raising(PermanentError("bad", "no")) == Failed("bad", "no", permanent=True)
    assert raising(NotNow("environment", "x")) == Released(60_000, "environment")
    assert raising(Interrupted("released")) == Released()
    assert raising(DatabaseAway("x")) == Released(60_000, "database_unreachable")
