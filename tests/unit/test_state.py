"""The supervisor's folder, its plan, its log and its health."""

import json
import os
from contextlib import suppress

import pytest

from capture_consumer.supervisor import health
from capture_consumer.supervisor.plan import PLAN, Pace, Plan
from capture_consumer.supervisor.says import Says
from capture_consumer.supervisor.state import Held, State, remove_tree, state_dir

URL = "postgresql://me:secret@db/captures"


def test_the_folder_is_named_by_the_database_without_its_password(tmp_path):
    """SUP-5."""
    environ = {"CAPTURE_STATE_DIR": str(tmp_path / "state")}

    one = state_dir(environ, URL)
    same = state_dir(environ, URL.replace("secret", "changed"))
    other = state_dir(environ, URL.replace("captures", "others"))

    assert one == same != other
    assert one.parent == tmp_path / "state"
    assert one.stat().st_mode & 0o077 == 0
    assert "secret" not in str(one)


def test_two_cannot_hold_one_folder(tmp_path):
    """SUP-7: who holds it is read from the file, the lock decides."""
    first, second = State(tmp_path), State(tmp_path)
    first.lock()
    first.write({"pid": 4711})

    with pytest.raises(Held, match="4711"):
        second.lock()

    first.unlock()
    second.lock()
    second.unlock()


def test_a_trace_that_says_nothing_is_not_kept(tmp_path):
    """SUP-67: nothing is left of a child that has nothing to tell."""
    state = State(tmp_path)
    state.lock()
    state.trace(3).touch()

    kept = state.keep_trace(3, 1)

    assert (kept, list(state.slots.glob("*"))) == (None, [])
    state.unlock()


def test_a_folder_is_removed_with_all_in_it_but_not_what_it_points_to(tmp_path):
    """SUP-9."""
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "file").touch()
    (tmp_path / "gone" / "deep").mkdir(parents=True)
    (tmp_path / "gone" / "deep" / "file").touch()
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "keep")

    remove_tree(tmp_path / "gone")

    assert not (tmp_path / "gone").exists()
    assert (tmp_path / "keep" / "file").exists()


def test_a_plan_travels_through_the_environment(tmp_path):
    """SUP-1."""
    plan = Plan(str(tmp_path), consumers=3, grace_s=10, pace=Pace(beat_s=3), reasons="2 CPUs")

    assert Plan.from_environment({PLAN: plan.to_environment()}) == plan
    assert plan.consumer_argv[-4:] == ("-m", "capture_consumer", "child", "consumer")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state_dir": "x", "unknown": 1}'])
def test_what_is_no_plan_is_refused_in_one_line(text):
    """SUP-1."""
    with pytest.raises(ValueError, match=r".") as error:
        Plan.from_environment({PLAN: text})

    assert "\n" not in str(error.value)


def fill(pipe):
    """Write until nothing more goes in."""
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, b"x" * 4096)


def test_lines_that_cannot_be_written_are_counted_and_stop_nothing():
    """SUP-16: a reader that does not read."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    says = Says(fd=write)
    fill(write)

    says.info("lost_one")
    says.info("lost_two")
    assert says.lost == 2

    os.read(read, 1 << 20)
    says.info("told", slot=1)
    line = json.loads(os.read(read, 4096))
    assert (line["event"], line["lines_lost"], line["slot"]) == ("told", 2, 1)
    os.close(read)
    os.close(write)


def spoken(log_format):
    """Return what is written to a pipe when a clerk has come up."""
    read, write = os.pipe()
    says = Says(fd=write, stamp=lambda: "2026-01-02T03:04:05Z")
    says.speak(log_format)
    says.info("child_ready", slot=-1, pid=7)
    os.close(write)
    with os.fdopen(read) as told:
        return told.read()


def test_people_are_told_in_words_and_machines_in_json():
    """SUP-93."""
    assert spoken("console").split() == [
        "03:04:05", "[info", "]", "child", "ready", "slot=clerk", "pid=7",
    ]  # fmt: skip
    assert json.loads(spoken("json"))["event"] == json.loads(spoken("auto"))["event"]


HEALTHY = {
    "at_s": 100.0,
    "boot": "b",
    "state": "running",
    "slots": [{"phase": "idle"}],
    "clerk_age_s": 2.0,
}


@pytest.mark.parametrize(
    ("told", "live", "ready"),
    [
        (HEALTHY, True, True),
        (None, False, False),
        ({**HEALTHY, "at_s": 79.0}, False, False),
        ({**HEALTHY, "boot": "another"}, False, False),
        ({**HEALTHY, "state": "gone"}, False, False),
        ({**HEALTHY, "state": "draining"}, True, False),
        ({**HEALTHY, "slots": [{"phase": "boot"}]}, True, False),
        ({**HEALTHY, "clerk_age_s": 31.0}, True, False),
        ({**HEALTHY, "clerk_age_s": None}, True, True),
    ],
)
def test_live_asks_for_a_young_file_ready_for_someone_who_works(told, live, ready):
    """SUP-90."""
    judged = [health.judge(told, ready=want, now_s=100.0, boot="b") for want in (False, True)]

    assert [good for good, _ in judged] == [live, ready]
    assert all(line and "\n" not in line for _, line in judged)


def test_the_youngest_file_of_a_machine_is_judged(tmp_path):
    """SUP-91."""
    for name, at_s in (("a", 5.0), ("b", 7.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "health.json").write_text(json.dumps({"at_s": at_s}))
    (tmp_path / "c").mkdir()

    assert health.newest([str(tmp_path), "/no/such"]) == {"at_s": 7.0}


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_health_says_what_it_is_without_looking(capsys, word):
    assert health.main([word], {}) == 0
    assert "Example:    capture-consumer health --ready" in capsys.readouterr().out


def test_a_probe_with_a_slip_in_it_does_not_look_healthy(capsys):
    """SUP-90."""
    assert health.main(["--redy"], {}) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "error: No such option '--redy': health takes --ready, or none.\n"
