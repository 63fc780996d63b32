"""What a person does with builds, by the commands themselves, on both databases.

The builds are folders of pictures, so that no browser is needed; their jobs are done in
this very process by the product's own queue and handlers.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image
from sqlalchemy import create_engine, make_url, update

from capture_consumer.cli import main
from capture_consumer.cli.door import Door
from capture_consumer.consumer.outcome import Crashed
from capture_consumer.consumer.work import work
from capture_consumer.database.transaction import transaction
from capture_consumer.handlers import handlers_for
from capture_consumer.hooks import HOOKS
from capture_consumer.queues.jobs import JobsQueue
from capture_consumer.queues.lifecycle import LifecycleQueue
from capture_consumer.storage.folder import FolderStore
from capture_consumer.tables import builds
from tests.queueing import end, take_one
from tests.unit.repositories import Repository

Run = Callable[..., Result]
RED, BLUE, GREEN = (200, 30, 30), (30, 30, 200), (30, 200, 30)


def picture(path: Path, colour: tuple[int, int, int]) -> None:
    """Draw a picture of one colour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (40, 30), colour).save(path)


@pytest.fixture(scope="session")
def upgraded(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the server with a template whose tables `db upgrade` has made."""
    here = Door(
        {"CAPTURE_DATABASE_URL": made_on(postgres, "door")}, tmp_path_factory.mktemp("door")
    )
    assert CliRunner().invoke(main, ["db", "upgrade"], obj=here).exit_code == 0
    return postgres


def made_on(server: str, name: str, *, template: str = "template1") -> str:
    """Make a database on the server; return its address."""
    root = create_engine(server, isolation_level="AUTOCOMMIT")
    with root.connect() as db:
        db.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}"')
        db.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    root.dispose()
    return make_url(server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgresql"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    """Return the door of a fresh repository, with a database of either kind behind it."""
    repository = Repository(tmp_path / "shop")
    picture(repository.folder / "shots" / "home.png", RED)
    picture(repository.folder / "shots" / "deep" / "cart.png", RED)
    repository.commit()
    if request.param == "sqlite":
        return Door({}, repository.folder)
    server: str = request.getfixturevalue("upgraded")
    name = f"door_{tmp_path.name}".lower().replace("-", "_")[:60]
    url = made_on(server, name, template="door")
    return Door({"CAPTURE_DATABASE_URL": url}, repository.folder)


@pytest.fixture
def run(door: Door) -> Run:
    """Return a function that runs a command."""
    return lambda *words: CliRunner().invoke(main, list(words), obj=door)


@pytest.fixture
def do_jobs(door: Door) -> Callable[..., int]:
    """Return a function that does all jobs there are, and what follows from them."""

    def do(at_most: int = 100) -> int:
        with door.books(writing=True) as books:
            handlers = handlers_for(books.facts, door.store(books), None, clock=books.clock)
            queue = JobsQueue(books.engine, clock=books.clock, handlers=handlers, owner="test")
            hooks = LifecycleQueue(books.engine, clock=books.clock, hooks=HOOKS)
            done = 0
            while done < at_most and work(queue):
                done += 1
                hooks.flush()
            return done

    return do


@pytest.fixture
def first(run: Run, do_jobs: Callable[[], int]) -> None:
    """Make a first build and finish it."""
    assert run("submit", "shots", "--no-wait").exit_code == 0
    assert do_jobs() == 2


@pytest.fixture
def second(door: Door, run: Run, do_jobs: Callable[[], int], first: None) -> None:
    """Make a second build in which one picture changed and one is new, and finish it."""
    picture(door.cwd / "shots" / "home.png", BLUE)
    picture(door.cwd / "shots" / "new.png", RED)
    Repository.commit_in(door.cwd)
    assert run("submit", "shots", "--no-wait").exit_code == 0
    do_jobs()


def test_submit_tells_what_it_found_and_opens_a_pending_build(door, run):
    """BUILD-1, BUILD-22."""
    told = run("submit", "shots", "--no-wait")

    assert told.exit_code == 0
    assert "folder of pictures of 2 files" in told.stderr
    assert "on main" in told.stderr
    assert "build shop/1 opened" in told.stderr
    assert json.loads(run("builds", "--json").stdout)[0]["phase"] == "pending"


def test_the_first_build_is_accepted_and_wait_leaves_with_0(run, first):
    """BUILD-56."""
    told = run("wait", "1", "--json")

    assert told.exit_code == 0
    shown = json.loads(told.stdout)
    assert (shown["phase"], shown["verdict"]) == ("finished", "accepted")
    assert {one["review_source"] for one in shown["snapshots"]} == {"first_build"}
    assert shown["baseline"]["reason"] == "first_build"
    assert "This is the first build" in run("show", "1").stdout


def test_what_changed_needs_review_and_wait_leaves_with_1(run, second):
    """BUILD-61."""
    told = run("wait", "2")

    assert told.exit_code == 1
    assert "1 changed, 1 new need review" in told.stdout
    assert "capture-consumer review shop/2" in told.stderr


@pytest.mark.parametrize(
    ("other", "code", "says"),
    [("--accept", 0, "answered so already"), ("--reject", 2, "changed")],
)
def test_of_two_that_answer_at_once_only_a_contradiction_is_refused(
    run, second, monkeypatch, *, other, code, says
):
    """BUILD-83, BUILD-88."""
    put, once = FolderStore.put, iter([True])

    def overtaken(store, data):
        # The manifest is stored between the look and the write.
        if next(once, False):
            run("review", "2", other, "*", "--by", "ben")
        return put(store, data)

    monkeypatch.setattr(FolderStore, "put", overtaken)
    told = run("review", "2", "--accept", "*", "--by", "ana")

    assert (told.exit_code, says in told.stderr) == (code, True), told.stderr


def test_show_json_is_one_object_with_all_that_was_asked_for(run, second):
    shown = json.loads(run("show", "2", "--json").stdout)

    assert shown["project"] == "shop"
    assert shown["number"] == 2
    assert shown["verdict"] == "needs_review"
    assert shown["counts"]["changed"] == 1
    assert shown["error"] is None
    assert shown["baseline"] == {
        "build": 1,
        "commit": shown["baseline"]["commit"],
        "branch": "main",
        "environment": "images",
        "reason": "ancestor",
    }
    assert shown["environment"] == "images"
    by_story = {one["story_id"]: one for one in shown["snapshots"]}
    assert {story: one["outcome"] for story, one in by_story.items()} == {
        "home": "changed",
        "new": "new",
        "deep/cart": "unchanged",
    }
    assert by_story["home"]["baseline_build"] == 1
    assert by_story["home"]["changed_px"] == 40 * 30
    assert by_story["home"]["state"] == "captured"


def test_a_picture_whose_comparing_kills_two_consumers_is_errored_and_the_build_ends(
    door, run, do_jobs, first
):
    """BUILD-78: the others are compared all the same."""
    picture(door.cwd / "shots" / "home.png", BLUE)
    picture(door.cwd / "shots" / "deep" / "cart.png", GREEN)
    Repository.commit_in(door.cwd)
    run("submit", "shots", "--no-wait")
    do_jobs(at_most=1)
    killed = Crashed(code="crashed", text="killed by SIGSEGV", story="home", exact=True)

    with door.books(writing=True) as books:
        for _ in range(2):
            held = take_one(books.engine, books.clock)
            end(books.engine, books.clock, held.job_id, held.attempt, killed)
    do_jobs()

    shown = json.loads(run("show", "2", "--json").stdout)
    came = {one["story_id"]: (one["outcome"], one["error_code"]) for one in shown["snapshots"]}
    assert came == {"home": ("errored", "compare_crashed"), "deep/cart": ("changed", None)}
    assert shown["verdict"] == "broken"


def test_show_lists_what_is_worth_a_look_and_all_when_asked(run, second):
    assert "deep/cart" not in run("show", "2").stdout
    assert "1 more as expected (show shop/2 --all lists all)" in run("show", "2").stdout
    assert "deep/cart" in run("show", "2", "--all").stdout


def test_show_of_an_open_build_counts_what_is_to_come_and_lists_none_of_it(run, do_jobs):
    run("submit", "shots", "--no-wait")
    assert "Waiting for a consumer" in run("show", "1").stdout
    do_jobs(1)

    told = run("show", "1")

    assert "2 captured, 0 to come" in told.stdout
    assert "home" not in told.stdout
    assert "compared" not in told.stdout


def test_a_report_without_its_store_is_refused_and_nothing_is_written(door, run, second):
    shutil.rmtree(door.cwd / ".capture" / "store")

    told = run("report", "2", "--html", "report")

    assert told.exit_code == 8
    assert "there is no store at" in told.stderr
    assert not (door.cwd / "report").exists()


def test_pictures_among_the_builds_of_a_storybook_are_warned_of(door, run, second):
    page = door.cwd / "static"
    page.mkdir()
    (page / "index.json").write_text("{}")
    (page / "iframe.html").write_text("")

    assert "A --name of its own" in run("submit", "static", "--no-wait").stderr
    assert "--name" not in run("submit", "static", "--no-wait", "--name", "book").stderr


def test_show_why_says_what_each_was_compared_with(run, second):
    """BUILD-64."""
    told = run("show", "shop/2", "--why", "--story", "home")

    assert "build 1" in told.stdout
    assert "nothing: build 1 has no picture of it" in run("show", "2", "--why").stdout
    assert "100.00%, within 40 × 30 at 0, 0" in told.stdout  # noqa: RUF001 - as the page says it


def test_show_says_that_the_baseline_was_taken_with_another_browser(door, run, second):
    """BUILD-50."""
    assert "another browser" not in run("show", "2").stdout

    with door.books(writing=True) as books, transaction(books.engine) as tx:
        first = update(builds.builds).where(builds.builds.c.number == 1)
        tx.execute(first.values(environment="old"))

    assert "taken with another browser or other fonts" in run("show", "2").stdout


def test_accepting_everything_turns_the_verdict_and_the_exit_code(run, second):
    """BUILD-82, BUILD-83."""
    told = run("review", "2", "--accept", "*", "--by", "ana")

    assert told.exit_code == 0
    assert "2 snapshots answered" in told.stderr
    assert json.loads(run("show", "2", "--json").stdout)["verdict"] == "accepted"


def test_the_same_answer_twice_is_one_answer(run, second):
    """BUILD-88."""
    run("review", "2", "--accept", "*")

    told = run("review", "2", "--accept", "*")

    assert told.exit_code == 0
    assert "answered so already" in told.stderr


def test_a_rejection_goes_before_an_acceptance(run, second):
    """BUILD-85."""
    told = run("review", "2", "--accept", "*", "--reject", "home")

    assert told.exit_code == 1
    assert json.loads(run("show", "2", "--json").stdout)["verdict"] == "rejected"


def test_what_was_accepted_is_the_next_build_s_baseline(run, do_jobs, second):
    """BUILD-69."""
    run("review", "2", "--accept", "*")
    run("submit", "shots", "--no-wait")
    do_jobs()

    told = run("wait", "3", "--json")

    assert told.exit_code == 0
    assert json.loads(told.stdout)["verdict"] == "passed"


def test_a_report_is_one_page_that_names_what_changed(run, door, second):
    told = run("report", "2", "--html", "out", "--json")

    assert told.exit_code == 0
    page = Path(json.loads(told.stdout)["report"])
    assert "home" in page.read_text(encoding="utf-8")
    # Beside the page lie the pictures that it shows.
    assert list(page.parent.rglob("*.png"))


def test_cancel_ends_an_open_build_and_may_be_said_twice(run, do_jobs):
    """BUILD-89."""
    run("submit", "shots", "--no-wait")

    assert run("cancel", "1").exit_code == 0
    assert run("cancel", "1").exit_code == 0
    assert run("wait", "1").exit_code == 6
    assert do_jobs() == 0


def test_cancelling_a_finished_build_says_how_it_ended(run, first):
    """BUILD-89."""
    told = run("cancel", "1")

    assert told.exit_code == 2
    assert "accepted" in told.stderr


def test_retry_captures_the_same_files_as_a_new_build_and_twice_is_one(run, do_jobs, first):
    """BUILD-93, BUILD-95."""
    once = run("retry", "1", "--no-wait", "--json")
    again = run("retry", "1", "--no-wait", "--json")

    assert json.loads(once.stdout)["number"] == json.loads(again.stdout)["number"] == 2
    do_jobs()
    assert json.loads(run("wait", "2", "--json").stdout)["verdict"] == "passed"


def test_an_open_build_cannot_be_retried(run):
    """BUILD-95."""
    run("submit", "shots", "--no-wait")

    told = run("retry", "1", "--no-wait")

    assert told.exit_code == 2
    assert "is still pending" in told.stderr


def test_when_the_time_runs_out_the_build_goes_on(run):
    """BUILD-122."""
    told = run("submit", "shots", "--timeout", "0")

    assert told.exit_code == 7
    assert "capture-consumer wait shop/1" in told.stderr


def test_one_run_of_a_ci_that_submits_twice_has_one_build(door, run):
    """BUILD-1: the same nonce is the same build."""
    sha = Repository.head_of(door.cwd)
    door.environ = {
        **door.environ,
        "GITHUB_ACTIONS": "true",
        "GITHUB_SHA": sha,
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "1",
    }

    run("submit", "shots", "--no-wait")
    told = run("submit", "shots", "--no-wait")

    assert told.exit_code == 0
    assert "already" in told.stderr
    assert len(json.loads(run("builds", "--json").stdout)) == 1


def test_a_broken_picture_is_told_and_the_build_is_broken(door, run, do_jobs):
    """BUILD-44."""
    whole = (door.cwd / "shots" / "home.png").read_bytes()
    (door.cwd / "shots" / "home.png").write_bytes(whole[: len(whole) // 2])
    run("submit", "shots", "--no-wait")
    do_jobs()

    told = run("wait", "1")

    assert told.exit_code == 3
    assert "errored" in told.stdout


@pytest.mark.parametrize("words", [["show", "99"], ["show", "elsewhere/1"], ["wait", "x"]])
def test_a_build_that_is_not_there_is_one_line(run, first, words):
    told = run(*words)

    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert told.stderr.startswith("error: ")


@pytest.mark.parametrize("name", ["empty", "notes", "missing"])
def test_bad_input_writes_nothing_at_all(door, name):
    """Decision 15."""
    (door.cwd / "empty").mkdir()
    (door.cwd / "notes").mkdir()
    (door.cwd / "notes" / "a.txt").write_text("x")

    told = CliRunner().invoke(main, ["submit", name], obj=door)

    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert not (door.cwd / ".capture").exists()
    assert told.stdout == ""


def test_status_and_jobs_say_what_waits(run):
    run("submit", "shots", "--no-wait")

    status = json.loads(run("status", "--json").stdout)
    listed = json.loads(run("jobs", "--json").stdout)

    assert status["jobs"]["queued"] == 1
    assert status["supervisors"] == []
    assert [(one["kind"], one["step"], one["status"]) for one in listed] == [
        ("capture", "plan", "queued")
    ]


def test_jobs_say_how_their_attempts_ended(run, first):
    listed = json.loads(run("jobs", "--build", "1", "--json").stdout)

    assert [one["attempts"][0]["outcome"] for one in listed] == ["done", "done"]
    assert "done" in run("jobs").stdout


def test_db_check_says_the_tables_are_ours(run, first):
    told = run("db", "check", "--json")

    assert told.exit_code == 0
    assert json.loads(told.stdout)["ok"] is True
