"""Each hot statement reads open rows only, however many have ended (JOB-152, JOB-170).

The statements are caught as the product runs them and explained afterwards: on PostgreSQL
as the generic plan, which is what a prepared statement comes to.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from capture_consumer.consumer.outcome import Crashed, Failed, Released
from capture_consumer.consumer.work import work
from capture_consumer.database.transaction import transaction
from capture_consumer.records.claiming import Claimant
from capture_consumer.records.mending import mend
from capture_consumer.records.reaping import reap
from capture_consumer.tables import attempts, claims, jobs
from capture_consumer.tables.attempts import OpenAttempt
from tests.queueing import add, capturing, end, queue_of, take_one

FINISHED = 20_000
OURS = ("jobs", "job_attempts")
OF_OPEN_ROWS = {
    "jobs_ready",
    "jobs_suspects",
    "jobs_open_of_build",
    "job_attempts_open",
    "job_attempts_open_of_owner",
}
OF_ONE_JOB = {"jobs_pkey", "job_attempts_pkey"}
NUMBERS = {
    "sqlite": "WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n LIMIT :many)",
    "postgresql": "WITH n AS (SELECT generate_series(1, :many) AS n)",
}
NOW = {"sqlite": "0", "postgresql": "now()"}
ENDED_JOBS = """
    INSERT INTO jobs (id, build_id, shard_id, kind, step, status, priority, attempt, suspect,
                      created_at, finished_at)
    {numbers}
    SELECT 'old' || n, n / 10, n, 'capture', 'shard', 'done', 0, 1, 1 = 0, {now}, {now} FROM n
"""
ENDED_ATTEMPTS = """
    INSERT INTO job_attempts (job_id, attempt, owner, started_at, lease_until, ended_at,
                              outcome, explained)
    SELECT id, 1, 'me', created_at, created_at, created_at, 'done', 1 = 0 FROM jobs
"""

Statement = tuple[str, object]


@pytest.fixture
def grown(engine: Engine) -> Engine:
    """Return a database in which 20,000 jobs have ended."""
    kind = engine.dialect.name
    with transaction(engine) as tx:
        tx.execute(
            text(ENDED_JOBS.format(numbers=NUMBERS[kind], now=NOW[kind])), {"many": FINISHED}
        )
        tx.execute(text(ENDED_ATTEMPTS))
    if kind == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
            db.exec_driver_sql("ANALYZE jobs, job_attempts")
    return engine


@pytest.fixture
def caught(grown: Engine) -> Iterator[list[Statement]]:
    """Return every statement that is sent from now on."""
    seen: list[Statement] = []

    def catch(_db: object, _cursor: object, sql: str, values: object, *_more: object) -> None:
        if re.search(r"\b(jobs|job_attempts)\b", sql) and not sql.startswith("INSERT"):
            seen.append((sql, values))

    event.listen(grown, "before_cursor_execute", catch)
    yield seen
    event.remove(grown, "before_cursor_execute", catch)


def nodes(plan: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield a plan's nodes."""
    yield plan
    for below in plan.get("Plans", ()):  # type: ignore[attr-defined]
        yield from nodes(below)


def faults_on_postgres(engine: Engine, sql: str, _values: object) -> list[str]:
    """Return what the generic plan of a statement reads that it should not."""
    places: dict[str, str] = {}
    numbered = re.sub(
        r"%\((\w+)\)s",
        lambda found: places.setdefault(found[1], f"${len(places) + 1}"),
        sql,
    ).replace("%%", "%")
    with engine.connect() as db:
        raw: Any = db.connection.driver_connection
        (told,) = raw.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {numbered}").fetchone()
    plan = told if isinstance(told, list) else json.loads(told)
    return [
        f"{node['Node Type']} {node.get('Relation Name', '')} {node.get('Index Name', '')}"
        for node in nodes(plan[0]["Plan"])
        if (node["Node Type"] == "Seq Scan" and node["Relation Name"] in OURS)
        or (
            "Index Name" in node
            and str(node["Index Name"]).startswith(OURS)
            and node["Index Name"] not in OF_OPEN_ROWS | OF_ONE_JOB
        )
        or (node.get("Index Name") in OF_ONE_JOB and "Index Cond" not in node)
    ]


def faults_on_sqlite(engine: Engine, sql: str, values: object) -> list[str]:
    """Return what the plan of a statement reads that it should not."""
    with engine.connect() as db:
        raw: Any = db.connection.driver_connection
        lines = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    return [
        line
        for line in lines
        if re.match(r"SCAN (jobs|job_attempts|every|ended)\b", line)
        and not any(name in line for name in OF_OPEN_ROWS)
    ]


FAULTS: dict[str, Callable[[Engine, str, object], list[str]]] = {
    "sqlite": faults_on_sqlite,
    "postgresql": faults_on_postgres,
}


def faults(engine: Engine, statements: list[Statement]) -> dict[str, list[str]]:
    """Return the statements that read what has ended, each with what it reads."""
    look = FAULTS[engine.dialect.name]
    every = dict(statements)
    found = {" ".join(sql.split()): look(engine, sql, values) for sql, values in every.items()}
    return {sql: read for sql, read in found.items() if read}


def test_claim_touch_check_settle_and_reap_read_open_rows_only(grown, caught, clock):
    """JOB-152, JOB-170, Q-47, Q-48."""
    capturing(grown, clock, ["a"], ["b"])
    add(grown, clock, *"jklm")
    caught.clear()
    queue = queue_of(grown, clock)

    assert work(queue) == 1
    claimant = Claimant(grown, clock, claims.Holder("me"), ["noop", "capture"], 60_000)
    assert not claimant.suspect_waits()
    for how in (Failed("boom", "x"), Crashed(code="crashed", text="x"), Released()):
        held = take_one(grown, clock)
        mine = OpenAttempt(held.job_id, held.attempt, "me")
        with transaction(grown) as tx:
            assert attempts.touch(
                tx, mine, lease_until=clock.now(), now=clock.now(), story=None
            )
            assert attempts.check(tx, mine) is None
            assert attempts.open_of_owner(tx, "me")
        end(grown, clock, held.job_id, held.attempt, how)
    take_one(grown, clock)
    clock.advance(ms=60_000)
    assert reap(grown, now=clock.now()) == 1

    assert len({sql for sql, _ in caught}) >= 10
    assert faults(grown, caught) == {}


def test_ending_what_is_open_of_a_build_reads_its_open_jobs_only(grown, caught, clock):
    """JOB-18, JOB-152, BUILD-16."""
    build_id = capturing(grown, clock, ["a"], ["b"])
    caught.clear()

    with transaction(grown) as tx:
        assert jobs.fail_open_of_build(tx, build_id, clock.now(), "x", "x") == 2
        assert jobs.cancel_of_build(tx, build_id, clock.now()) == 0
    assert mend(grown, now=clock.now()) == 0

    assert faults(grown, caught) == {}


def test_a_status_that_is_bound_or_joined_with_or_is_found_out(grown, caught):
    """Q-48: the tests above can fail."""
    ended = "SELECT id FROM jobs WHERE status = :word OR attempt = :attempt"
    with grown.connect() as db:
        db.execute(text(ended), {"word": "queued", "attempt": 7}).all()

    assert faults(grown, caught)
