"""Waiting for a build: what is told meanwhile, and what ends it."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console
from sqlalchemy import Engine

from capture_consumer.builds.effects import EndBuild
from capture_consumer.builds.facts import BuildFact
from capture_consumer.cli.door import Books
from capture_consumer.cli.watch import NO_CONSUMER, Bar, Pace, watch
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import DatabaseAway
from capture_consumer.records.facts import RowFacts
from capture_consumer.tables import supervisors
from tests import made
from tests.conftest import HandClock


class Elapsed:
    """Seconds that pass only in waits, each of which may do something first."""

    def __init__(self, *meanwhile: Callable[[], object]) -> None:
        self.now_s = 0.0
        self.meanwhile = list(meanwhile)

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        if self.meanwhile:
            self.meanwhile.pop(0)()


class Shaky(RowFacts):
    """Facts of a database that is away for some looks."""

    away = 0

    def build(self, build_id: int) -> BuildFact | None:
        if self.away:
            self.away -= 1
            raise DatabaseAway("the database does not answer")
        return super().build(build_id)


@pytest.fixture
def books(engine: Engine, clock: HandClock) -> Books:
    """Return the test's database as commands have it."""
    return Books(engine, Shaky(engine, clock), clock)


def up(books: Books, clock: HandClock) -> None:
    """Let a supervisor say that it is up."""
    with transaction(books.engine) as tx:
        supervisors.beat(
            tx,
            incarnation="life",
            host="here",
            version="1",
            slots=2,
            draining=False,
            started_at=clock.now(),
            now=clock.now(),
        )


def test_it_ends_when_the_build_does(books, engine, clock):
    """BUILD-109."""
    build_id = made.pending(engine, clock)
    elapsed = Elapsed(
        lambda: None, lambda: made.written(engine, clock, EndBuild(build_id, "cancelled"))
    )

    build = watch(books, build_id, wait=elapsed.wait, elapsed=elapsed)

    assert build.phase == "cancelled"
    assert elapsed.now_s == 1.0


def test_it_ends_when_the_time_has_run_out(books, engine, clock):
    """BUILD-109, BUILD-122."""
    build_id = made.pending(engine, clock)
    elapsed = Elapsed()

    build = watch(books, build_id, timeout_s=3, wait=elapsed.wait, elapsed=elapsed)

    assert build.phase == "pending"
    assert elapsed.now_s == 3.0


def test_that_no_consumer_is_running_is_said_once(books, engine, clock, capsys):
    build_id = made.pending(engine, clock)
    elapsed = Elapsed()

    watch(books, build_id, timeout_s=30, wait=elapsed.wait, elapsed=elapsed)

    assert capsys.readouterr().err.count(NO_CONSUMER) == 1


def test_with_a_supervisor_that_was_heard_nothing_is_said(books, engine, clock, capsys):
    build_id = made.pending(engine, clock)
    up(books, clock)
    elapsed = Elapsed()

    watch(books, build_id, timeout_s=30, wait=elapsed.wait, elapsed=elapsed)

    assert NO_CONSUMER not in capsys.readouterr().err


def test_a_supervisor_that_was_not_heard_for_long_is_none(books, engine, clock, capsys):
    build_id = made.pending(engine, clock)
    up(books, clock)
    clock.advance(ms=61_000)
    elapsed = Elapsed()

    watch(books, build_id, timeout_s=30, wait=elapsed.wait, elapsed=elapsed)

    assert NO_CONSUMER in capsys.readouterr().err


def test_in_a_pipe_each_phase_is_a_line_and_else_one_in_ten_seconds(
    books, engine, clock, capsys
):
    build_id = made.pending(engine, clock)
    up(books, clock)
    elapsed = Elapsed()

    watch(books, build_id, timeout_s=25, wait=elapsed.wait, elapsed=elapsed)

    assert capsys.readouterr().err.splitlines() == ["pending", "pending", "pending"]


def test_a_database_that_is_away_for_a_while_is_waited_for(books, engine, clock):
    build_id = made.pending(engine, clock)
    books.facts.away = 100
    elapsed = Elapsed()

    build = watch(books, build_id, timeout_s=55, wait=elapsed.wait, elapsed=elapsed)

    assert build.phase == "pending"


def test_a_database_that_is_away_for_more_than_a_minute_is_told(books, engine, clock):
    """R30."""
    build_id = made.pending(engine, clock)
    books.facts.away = 1_000
    elapsed = Elapsed()

    with pytest.raises(DatabaseAway):
        watch(books, build_id, wait=elapsed.wait, elapsed=elapsed)

    assert elapsed.now_s == 60.0


def test_the_pace_is_that_of_the_last_ten_seconds():
    pace = Pace()

    told = [pace.per_second(at_s, count) for at_s, count in [(0.0, 0), (5.0, 50), (20.0, 80)]]

    assert told == [None, 10.0, 2.0]


def test_what_is_said_beside_the_moving_line_stands_on_a_line_of_its_own(monkeypatch):
    written = io.StringIO()

    def err() -> Console:
        return Console(file=written, force_terminal=True, width=80, color_system=None)

    monkeypatch.setattr("capture_consumer.cli.screen.err", err)

    with Bar("waiting") as line:
        line.put("capturing", 3, 7)
        line.progress.refresh()
        line.say(NO_CONSUMER, "")

    before, _, after = written.getvalue().partition(NO_CONSUMER)
    assert before.endswith("\x1b[2K"), "the moving line was taken away first"
    assert after.startswith("\n")
