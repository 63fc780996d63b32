"""One store a database, and what people do by hand written down; on both databases."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from capture_consumer.builds.effects import OpenBuild
from capture_consumer.cli import main
from capture_consumer.cli.door import Door
from capture_consumer.database.transaction import reading
from capture_consumer.errors import StoreMismatch
from capture_consumer.storage import open_store
from capture_consumer.tables import audit
from tests.conformance import test_doors
from tests.conformance.test_doors import RED, picture
from tests.unit.repositories import Repository

door, run, first = test_doors.door, test_doors.run, test_doors.first
upgraded, do_jobs = test_doors.upgraded, test_doors.do_jobs


def with_store(door: Door, place: str) -> Door:
    """Return the same door with another store set."""
    return Door({**door.environ, "CAPTURE_STORE": str(door.cwd / place)}, door.cwd)


def asked(door: Door, *words: str) -> Result:
    """Run a command at a door."""
    return CliRunner().invoke(main, list(words), obj=door)


@pytest.fixture
def somebody(door: Door) -> str:
    """Return who does it all."""
    Repository(door.cwd).git("config", "user.name", "ana")
    return "ana"


def audited(door: Door) -> list[tuple[str | None, ...]]:
    """Return what was written down of what people did."""
    with door.books(writing=False) as books, reading(books.engine) as tx:
        rows = tx.execute(select(audit.audit).order_by(audit.audit.c.id)).mappings()
        return [
            tuple(row[name] for name in ("who", "action", "subject", "from_state", "to_state"))
            for row in rows
        ]


def test_a_cancel_is_written_down_once_with_who_and_from_what_to_what(door, run, somebody):
    """COM-16."""
    run("submit", "shots", "--no-wait")

    run("cancel", "1")
    run("cancel", "1")

    assert audited(door) == [(somebody, "cancel", "build:1", "pending", "cancelled")]


def test_a_retry_is_written_down_once_with_the_build_that_it_made(door, run, first, somebody):
    """COM-16, BUILD-95."""
    run("retry", "1", "--no-wait")
    run("retry", "1", "--no-wait")

    assert audited(door) == [(somebody, "retry", "build:1", "accepted", "pending")]


def test_a_submit_with_another_store_is_refused_before_it_stores_anything(door, run, somebody):
    """R25: pictures are never split over two stores."""
    assert run("submit", "shots", "--no-wait").exit_code == 0
    before = Path(door.settings.store_url)

    told = asked(with_store(door, "other"), "submit", "shots", "--no-wait")

    assert told.exit_code == 2
    assert f"this database's pictures are in {before.as_uri()}" in told.stderr
    assert "capture-consumer db store" in told.stderr
    assert not (door.cwd / "other").exists()
    assert len(json.loads(run("builds", "--json").stdout)) == 1


def test_two_first_builds_with_two_stores_are_one_build_and_a_refusal(door, run, somebody):
    """R25: whoever commits first records the store; the other's transaction says so."""
    with door.books(writing=True) as books:
        ours, other = open_store(str(door.cwd / "ours")), open_store(str(door.cwd / "other"))
        books.open_build(OpenBuild("shop", "1", "images"), ours)
        with pytest.raises(StoreMismatch, match=r"db store file:///.*/other"):
            books.open_build(OpenBuild("shop", "2", "images"), other)
        assert [one.number for one in books.facts.recent()] == [1]


def test_a_moved_store_is_told_with_one_command_and_written_down(door, run, first, somebody):
    """R25."""
    there = door.cwd / "pictures"
    shutil.move(door.settings.store_url, there)
    moved = with_store(door, "pictures")

    assert asked(moved, "retry", "1", "--no-wait").exit_code == 2
    assert asked(moved, "db", "store", "pictures").exit_code == 0
    assert json.loads(asked(moved, "db", "store", "--json").stdout) == {"store": there.as_uri()}
    assert asked(moved, "retry", "1", "--no-wait").exit_code == 0
    assert [row[1] for row in audited(door)] == ["move_store", "retry"]


def test_a_store_without_the_newest_pictures_is_not_taken_for_the_moved_one(
    door, run, first, somebody
):
    """R25."""
    told = run("db", "store", str(door.cwd / "empty"))

    assert told.exit_code == 2
    assert "newest pictures and files: move the whole folder there first" in told.stderr
    assert str(door.settings.store_url) in run("db", "store").output


def test_a_folder_that_holds_sqlite_file_and_store_can_be_moved_without_a_word(tmp_path):
    """R25: whoever renames a project's folder has nothing to set."""
    repository = Repository(tmp_path / "old")
    picture(repository.folder / "shots" / "home.png", RED)
    repository.commit()
    asked(Door({}, repository.folder), "submit", "shots", "--no-wait")

    moved = Door({}, repository.folder.rename(tmp_path / "new"))

    assert asked(moved, "submit", "shots", "--no-wait").exit_code == 0
    assert "/new/.capture/store" in asked(moved, "db", "store").output


def test_start_with_another_store_leaves_with_78(door, run, somebody):
    """R25."""
    run("submit", "shots", "--no-wait")

    told = asked(with_store(door, "other"), "start")

    assert told.exit_code == 78
    assert "this database's pictures are in" in told.stderr


def test_a_consumer_with_another_store_leaves_with_78_before_it_claims(door, run):
    """R25, SUP-49; the clerk comes up by the same function."""
    run("submit", "shots", "--no-wait")
    told = {
        "CAPTURE_DATABASE_URL": door.settings.database_url,
        "CAPTURE_STORE": str(door.cwd / "other"),
    }

    came = subprocess.run(
        [sys.executable, "-m", "capture_consumer", "child", "consumer"],
        cwd=door.cwd,
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert came.returncode == 78
    assert "this database's pictures are in" in came.stderr
    assert json.loads(run("jobs", "--json").stdout)[0]["attempts"] == []
