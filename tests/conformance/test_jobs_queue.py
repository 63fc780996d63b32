"""The queue of jobs as a consumer sees it: claim, perform, save, settle, release."""

from threading import Event

import pytest
from sqlalchemy import Connection, update

from capture_consumer.builds.effects import NOTHING, Enqueue
from capture_consumer.consumer.job import KindHandler
from capture_consumer.consumer.outcome import Cancelled, Done, Failed, Released
from capture_consumer.consumer.work import work
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import DatabaseAway, Interrupted, LeaseLost, PermanentError
from capture_consumer.records.reaping import reap
from capture_consumer.tables import jobs
from tests.queueing import (
    Told,
    add,
    attempts_of,
    broken_promises,
    job_of,
    outcomes_of,
    queue_of,
    take_one,
)

FOLLOWER = Enqueue("follower", "noop")


def all_jobs(engine):
    with engine.connect() as db:
        return sorted(job.id for job in jobs.listing(db))


def cancel(engine, clock, job_id):
    with transaction(engine) as tx:
        assert jobs.cancel(tx, job_id, clock.now())


def test_a_job_is_done_once_and_what_it_returned_is_written_with_its_end(engine, clock):
    """JOB-84, JOB-85, S5."""
    add(engine, clock, "j")
    told = Told()
    queue = queue_of(engine, clock, handler=lambda job, hold: (FOLLOWER,), observer=told)

    assert work(queue) == 1

    assert (job_of(engine, "j").status, outcomes_of(engine, "j")) == ("done", ["done"])
    assert all_jobs(engine) == ["follower", "j"]
    assert told.heard == [("claimed", "j", 1), ("settled", "j", "done")]


def test_an_empty_queue_gives_nothing(engine, clock):
    assert work(queue_of(engine, clock)) == 0


def test_only_kinds_that_have_a_handler_are_claimed(engine, clock):
    """Q-4, JOB-78: what nobody here can do does not stand in the way."""
    add(engine, clock, "foreign", kind="other", priority=-1)
    add(engine, clock, "mine")

    [claim] = queue_of(engine, clock).claim()

    assert claim.work.job_id == "mine"


def test_the_smallest_priority_number_goes_first_then_the_oldest_then_the_id(engine, clock):
    """JOB-28, S7."""
    add(engine, clock, "b", "a")
    add(engine, clock, "urgent", priority=-1)
    clock.advance(ms=1)
    add(engine, clock, "0 young")

    claims = queue_of(engine, clock).claim(limit=4)

    assert [claim.work.job_id for claim in claims] == ["urgent", "a", "b", "0 young"]


def test_a_job_is_not_claimed_before_it_is_due(engine, clock):
    """JOB-14."""
    add(engine, clock, "later", delay_ms=1_000)
    queue = queue_of(engine, clock)

    early = queue.claim()
    clock.advance(ms=1_000)

    assert (len(early), len(queue.claim())) == (0, 1)


def test_the_same_id_is_one_job_while_it_waits_runs_and_after(engine, clock):
    """Q-62, JOB-15, S11."""
    for _ in range(3):
        add(engine, clock, "j", payload={"n": 1})
        work(queue_of(engine, clock))

    assert outcomes_of(engine, "j") == ["done"]


def test_a_handler_gets_what_was_enqueued(engine, clock):
    """JOB-12."""
    add(engine, clock, "j", payload={"n": 1}, build_id=4, priority=2)

    [claim] = queue_of(engine, clock).claim()

    job = claim.work
    assert (job.job_id, job.kind, job.build_id, job.data) == ("j", "noop", 4, {"n": 1})
    assert (job.attempt, job.attempts, job.failures, job.receipt) == (1, 0, 0, "j#1")


def test_a_corrupt_payload_is_empty_and_its_refusal_a_counted_end(engine, clock):
    """Q-60: no loop."""
    add(engine, clock, "j")
    with transaction(engine) as tx:
        tx.execute(update(jobs.jobs).values(payload='{"data'))

    def needs_data(job, hold):
        return job.data["page"]

    queue = queue_of(engine, clock, handler=needs_data, max_attempts=1)
    work(queue)

    assert job_of(engine, "j").status == "failed"


def test_a_handler_that_raises_is_retried_and_its_third_failure_is_final(engine, clock):
    """JOB-86, JOB-88."""
    add(engine, clock, "j")

    def broken(job, hold):
        raise ValueError(f"failure {job.failures + 1}")

    queue = queue_of(engine, clock, handler=broken)
    for _ in range(3):
        work(queue)
        clock.advance(ms=400_000)

    assert outcomes_of(engine, "j") == ["failed"] * 3
    assert (job_of(engine, "j").status, job_of(engine, "j").error) == ("failed", "failure 3")


def test_a_malformed_job_is_refused_for_good_before_its_handler_runs(engine, clock):
    """JOB-79, JOB-80: an accept check that raises refuses too."""
    add(engine, clock, "no", "raises")

    def accepts(job):
        assert job.job_id == "no", "raises"
        return False

    handler = KindHandler(run=lambda job, hold: pytest.fail("ran"), accepts=accepts)
    queue = queue_of(engine, clock, handlers={"noop": handler})
    work(queue, limit=2)

    assert [job_of(engine, one).code for one in ("no", "raises")] == ["malformed"] * 2


def test_effects_that_cannot_be_written_are_a_failure_of_the_job(engine, clock):
    """JOB-74, S5: nothing of them is written, and the job has a counted end."""
    add(engine, clock, "j")
    impossible = Enqueue("bad", "noop", payload={"n": float("nan")})
    queue = queue_of(engine, clock, handler=lambda job, hold: (FOLLOWER, impossible))

    work(queue)

    assert outcomes_of(engine, "j") == ["failed"]
    assert all_jobs(engine) == ["j"]


def test_a_result_that_comes_after_the_reap_writes_nothing(new_engine, clock):
    """Q-1, Q-15, S10: the holder has lost the job, says so, and leaves."""
    engine = new_engine()
    add(engine, clock, "j")
    told = Told()
    sleeper = queue_of(engine, clock, owner="sleeper", observer=told)
    [claim] = sleeper.claim()
    clock.advance(ms=60_001)
    assert reap(new_engine(), now=clock.now()) == 1

    settled = sleeper.settle(claim, Done((FOLLOWER,)))

    assert (settled, sleeper.leaving) == (False, "lost")
    assert ("lost", "j") in told.heard
    assert all_jobs(engine) == ["j"]
    assert (job_of(engine, "j").status, outcomes_of(engine, "j")) == ("queued", ["lost"])


def test_a_save_writes_while_the_job_goes_on_and_stays_when_the_job_fails(engine, clock):
    """JOB-168."""
    add(engine, clock, "j")

    def saves(job, hold):
        hold.save((FOLLOWER,))
        raise PermanentError("bad", "after the save")

    work(queue_of(engine, clock, handler=saves))

    assert all_jobs(engine) == ["follower", "j"]
    assert job_of(engine, "j").status == "failed"


def test_a_save_is_also_a_touch_and_names_the_story_in_hand(engine, clock):
    """JOB-168, SUP-46."""
    add(engine, clock, "j")

    def saves(job, hold):
        hold.begin("card", snapshot_id=1, index=0, of=2, deadline_s=60)
        clock.advance(ms=10_000)
        hold.save(NOTHING)
        [attempt] = attempts_of(engine, "j")
        assert attempt.story == "card"
        assert (attempt.lease_until - clock.now()).total_seconds() == 60
        return NOTHING

    work(queue_of(engine, clock, handler=saves))

    assert job_of(engine, "j").status == "done"


def test_a_save_after_the_reap_raises_and_writes_nothing(engine, clock):
    """S10, JOB-168."""
    add(engine, clock, "j")

    def slow(job, hold):
        clock.advance(ms=60_001)
        reap(engine, now=clock.now())
        hold.save((FOLLOWER,))

    queue = queue_of(engine, clock, handler=slow)
    work(queue)

    assert all_jobs(engine) == ["j"]
    assert queue.leaving == "lost"


def test_a_cancel_is_seen_by_the_next_save_and_the_attempt_ends_cancelled(engine, clock):
    """JOB-97, S9: nothing of the job is written any more, and the consumer goes on."""
    add(engine, clock, "j")

    def cancelled_meanwhile(job, hold):
        cancel(engine, clock, "j")
        hold.save((FOLLOWER,))

    queue = queue_of(engine, clock, handler=cancelled_meanwhile)
    work(queue)

    assert all_jobs(engine) == ["j"]
    assert (outcomes_of(engine, "j"), queue.leaving) == (["cancelled"], None)
    assert broken_promises(engine) == []


def test_a_result_of_a_cancelled_job_is_not_written(engine, clock):
    """JOB-17, S9."""
    add(engine, clock, "j")
    queue = queue_of(engine, clock)
    [claim] = queue.claim()
    cancel(engine, clock, "j")

    assert queue.settle(claim, Done((FOLLOWER,)))

    assert all_jobs(engine) == ["j"]
    assert outcomes_of(engine, "j") == ["cancelled"]


def test_a_running_job_hears_of_a_cancel_without_any_notification(new_engine, clock):
    """Q-66, JOB-54: the keeper looks by itself, also while the handler is deep in a call."""
    engine = new_engine()
    add(engine, clock, "j")

    def waits(job, hold):
        cancel(new_engine(), clock, "j")
        clock.advance(ms=5_000)
        hold.touch()
        assert hold.stop_soon.wait(10) == "cancelled"
        hold.begin("next", snapshot_id=1, index=1, of=2, deadline_s=60)

    queue = queue_of(engine, clock, handler=waits)
    work(queue)

    assert (outcomes_of(engine, "j"), queue.leaving) == (["cancelled"], None)


def test_a_drain_releases_the_job_in_hand_after_it_has_saved(engine, clock):
    """JOB-100, JOB-113, Q-30: uncounted, due now."""
    add(engine, clock, "j")
    told = Told()

    def drained(job, hold):
        queue.let_go()
        try:
            hold.begin("next", snapshot_id=1, index=1, of=2, deadline_s=60)
        except Interrupted:
            hold.save((FOLLOWER,))
            raise

    queue = queue_of(engine, clock, handler=drained, observer=told)
    work(queue)

    assert outcomes_of(engine, "j") == ["released"]
    assert (job_of(engine, "j").status, job_of(engine, "j").visible_at) == (
        "queued",
        clock.now(),
    )
    assert all_jobs(engine) == ["follower", "j"]
    assert told.heard[-1] == ("released", "j")


def test_what_a_handler_raises_once_it_was_asked_to_let_go_is_no_failure(engine, clock):
    """SUP-58, JOB-113: a hurry kills the browser under its hands."""
    add(engine, clock, "j")

    def hurried(job, hold):
        queue.let_go()
        raise RuntimeError("the browser does not start")

    queue = queue_of(engine, clock, handler=hurried)
    work(queue)

    assert outcomes_of(engine, "j") == ["released"]


def test_what_cannot_ever_work_is_said_though_it_was_asked_to_let_go(engine, clock):
    """JOB-113: bad input stays bad."""
    add(engine, clock, "j")

    def refused(job, hold):
        queue.let_go()
        raise PermanentError("bad_index", "no stories")

    queue = queue_of(engine, clock, handler=refused)
    work(queue)

    assert outcomes_of(engine, "j") == ["failed"]


def test_a_job_begun_after_a_drain_is_released_at_its_first_story(engine, clock):
    """JOB-112."""
    add(engine, clock, "j")
    queue = queue_of(
        engine,
        clock,
        handler=lambda job, hold: hold.begin("a", snapshot_id=1, index=0, of=1, deadline_s=9),
    )
    queue.let_go()

    work(queue)

    assert outcomes_of(engine, "j") == ["released"]


def test_a_handler_that_finds_its_database_away_costs_the_job_nothing(engine, clock):
    """R3: released, due in a minute."""
    add(engine, clock, "j")

    def away(job, hold):
        raise DatabaseAway("gone")

    work(queue_of(engine, clock, handler=away))

    assert outcomes_of(engine, "j") == ["released"]
    assert take_one(engine, clock) is None


def test_the_handler_hears_that_its_job_was_taken_away(engine, clock):
    """JOB-95: an error of it is told and ignored."""
    add(engine, clock, "j")
    heard = Event()

    def cancel_asked(job):
        heard.set()
        raise ValueError("ignored")

    def loses(job, hold):
        raise LeaseLost(queue="jobs", key="j", attempt=1)

    handler = KindHandler(run=loses, cancel=cancel_asked)
    work(queue_of(engine, clock, handlers={"noop": handler}))

    assert heard.is_set()


class Cut:
    """Breaks the connection at the next commits, before or after the server has them."""

    def __init__(self, engine, *, times, when):
        self.times, self.when = times, when
        self.dialect = engine.dialect
        self.do_commit, self.do_rollback = self.dialect.do_commit, self.dialect.do_rollback
        self.dialect.do_commit = self.commit

    def commit(self, connection):
        if self.times and self.when == "before":
            self.times -= 1
            self.break_off(connection)
        self.do_commit(connection)
        if self.times and self.when == "after":
            self.times -= 1
            self.break_off(connection)

    def break_off(self, connection):
        if self.dialect.name == "sqlite":
            self.do_rollback(connection)
            raise DatabaseAway("disk I/O error")
        connection.driver_connection.pgconn.finish()
        self.do_commit(connection)


def test_a_settle_whose_answer_was_lost_took_effect_and_is_not_done_twice(engine, clock):
    """JOB-154: it asks, and never guesses."""
    add(engine, clock, "j")
    queue = queue_of(engine, clock)
    [claim] = queue.claim()
    Cut(engine, times=1, when="after")

    assert queue.settle(claim, Done((FOLLOWER,)))

    assert (outcomes_of(engine, "j"), all_jobs(engine)) == (["done"], ["follower", "j"])


@pytest.mark.parametrize("how", [Done((FOLLOWER,)), Failed("boom", "x"), Released()])
def test_a_settle_that_did_not_reach_the_server_is_tried_again(engine, clock, how):
    """JOB-75, Q-13, Q-14: no attempt is left open."""
    add(engine, clock, "j")
    waits: list[float] = []
    queue = queue_of(engine, clock, wait=waits.append)
    [claim] = queue.claim()
    Cut(engine, times=2, when="before")

    assert queue.settle(claim, how)

    assert waits == [0.2, 1.0]
    assert outcomes_of(engine, "j") != [None]
    assert queue.leaving is None


def test_a_settle_that_fails_for_ever_makes_the_process_leave_and_the_job_run_again(
    new_engine, clock
):
    """JOB-75, Q-14: unsettled; the attempt ends lost by its lease."""
    engine = new_engine()
    add(engine, clock, "j")
    told = Told()
    queue = queue_of(engine, clock, observer=told)
    [claim] = queue.claim()
    Cut(engine, times=99, when="before")

    assert not queue.settle(claim, Done((FOLLOWER,)))

    assert (queue.leaving, told.heard[-1]) == ("unsettled", ("lost", "j"))
    other = new_engine()
    clock.advance(ms=60_001)
    assert reap(other, now=clock.now()) == 1
    assert take_one(other, clock, owner="next").attempt == 2


def test_a_claim_whose_answer_was_lost_is_found_again_at_once(engine, clock):
    """Q-36, Q-35, JOB-154: adopted by its owner, without waiting for the lease."""
    add(engine, clock, "j")
    queue = queue_of(engine, clock)
    cut = Cut(engine, times=1, when="after")
    with pytest.raises(DatabaseAway):
        queue.claim()
    cut.times = 0

    [claim] = queue.claim()

    assert (claim.work.job_id, claim.work.attempt) == ("j", 1)
    assert queue.settle(claim, Done(()))
    assert outcomes_of(engine, "j") == ["done"]


def test_a_claim_that_did_not_reach_the_server_is_made_again(engine, clock):
    """Q-36: nothing was left behind."""
    add(engine, clock, "j")
    queue = queue_of(engine, clock)
    cut = Cut(engine, times=1, when="before")
    with pytest.raises(DatabaseAway):
        queue.claim()
    cut.times = 0

    [claim] = queue.claim()

    assert claim.work.attempt == 1
    assert broken_promises(engine) == []


def test_a_suspect_is_claimed_only_by_who_is_alone(engine, clock):
    """JOB-158, SUP-41; whoever finds one may ask for the host."""
    add(engine, clock, "j")
    with transaction(engine) as tx:
        tx.execute(update(jobs.jobs).values(suspect=True))
    queue = queue_of(engine, clock)
    queue.alone = False

    among_others = queue.claim()
    waits = queue.suspect_waits()
    queue.alone = True

    assert (len(among_others), waits, len(queue.claim())) == (0, True, 1)


def test_who_was_granted_the_host_claims_a_suspect_and_no_older_job(engine, clock):
    """JOB-158, SUP-41, L1: the others stand back for it."""
    add(engine, clock, "older", "suspect")
    with transaction(engine) as tx:
        tx.execute(update(jobs.jobs).where(jobs.jobs.c.id == "suspect").values(suspect=True))
    queue = queue_of(engine, clock)
    queue.granted = True

    claimed = [one.work.job_id for one in queue.claim()]
    then = queue.claim()
    queue.granted = False

    assert (claimed, then) == (["suspect"], [])
    assert [one.work.job_id for one in queue.claim()] == ["older"]


def test_a_handler_that_takes_all_the_connections_it_can_get_does_not_stop_the_settle(
    new_engine, clock
):
    """Q-41, JOB-166: the queue's engine is its own."""
    engine, of_the_handler = new_engine(), new_engine()
    add(engine, clock, "j")
    taken: list[Connection] = []

    def greedy(job, hold):
        taken.extend(of_the_handler.connect() for _ in range(8))
        hold.save((FOLLOWER,))
        return NOTHING

    work(queue_of(engine, clock, handler=greedy))
    for connection in taken:
        connection.close()

    assert outcomes_of(engine, "j") == ["done"]


def test_a_cancelled_outcome_of_a_running_job_ends_the_job_too(engine, clock):
    """JOB-97: the handler saw the cancel; nothing is left open."""
    add(engine, clock, "j")
    queue = queue_of(engine, clock)
    [claim] = queue.claim()
    cancel(engine, clock, "j")

    assert queue.settle(claim, Cancelled())
    assert broken_promises(engine) == []
