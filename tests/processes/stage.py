"""A real supervisor on a stage: start it, give its consumers jobs, see what came of it."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event

from capture_consumer.ipc.identity import processes, rss_of
from capture_consumer.supervisor.plan import PLAN, Pace, Plan

CHILD = Path(__file__).with_name("child.py")
SUPERVISOR = ("-m", "capture_consumer.supervisor")
WITHOUT_PIDFD = (str(CHILD.with_name("without_pidfd.py")),)
WITH_A_THIEF = (str(CHILD.with_name("thief.py")),)
LONG = [sys.executable, "-I", "-S", "-c", "import threading; threading.Event().wait(600)"]
PATIENCE_S = 30.0
FAST = {
    "clerk_wait_s": 5.0,
    "old_term_s": 0.5,
    "quiet_s": 0.2,
    "turn_gap_s": 0.2,
    "spare_starts": 1000,
}


def wait_for(condition, *, within_s=PATIENCE_S, every_s=0.005):
    """Return what the condition returns as soon as it is true; fail when it never is."""
    until = time.monotonic() + within_s
    while not (found := condition()):
        assert time.monotonic() < until, f"not within {within_s} s"
        Event().wait(every_s)
    return found


class Stage:
    """One folder, and one supervisor at a time in it."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / "state"
        for name in ("jobs", "taken", "claimed", "done"):
            (folder / name).mkdir()
        self.log = folder / "log.jsonl"
        self.started = []

    @property
    def process(self):
        """Return the supervisor that was started last."""
        return self.started[-1]

    def start(
        self,
        *,
        consumers=2,
        grace_s=9.0,
        clerk=True,
        wait=True,
        standalone=True,
        runner=SUPERVISOR,
        pace=None,
        stderr=None,
    ):
        """Start a supervisor; return when all of its consumers are ready."""
        plan = Plan(
            state_dir=str(self.state),
            consumers=consumers,
            grace_s=grace_s,
            consumer_argv=(sys.executable, str(CHILD), "consumer", str(self.folder)),
            clerk_argv=(sys.executable, str(CHILD), "clerk", str(self.folder))
            if clerk
            else None,
            standalone=standalone,
            pace=Pace(**{**FAST, **(pace or {})}),
        )
        ready_before = len(self.events("child_ready"))
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *runner],
                env={**os.environ, PLAN: plan.to_environment()},
                stderr=log if stderr is None else stderr,
                start_new_session=True,
            )
        self.started.append(process)
        if wait:
            self.up(ready_before + consumers + clerk)
        return process

    def up(self, count):
        """Wait until so many children have come up since the stage was made."""
        wait_for(lambda: len(self.events("child_ready")) >= count)

    def job(self, name, *do, **more):
        """Put a job before the consumers, whole."""
        path = self.folder / f"{name}.new"
        path.write_text(json.dumps({"do": do, **more}))
        path.rename(self.folder / "jobs" / name)

    def holder(self, name):
        """Return the pid of the consumer that claimed a job, as soon as it has."""
        path = self.folder / "claimed" / name
        return int(wait_for(lambda: path.exists() and path.read_text()))

    def touch(self, name):
        """Leave a word for the jobs that wait for it."""
        (self.folder / name).touch()

    def done(self, name):
        """Return whether a job has ended well."""
        return (self.folder / "done" / name).exists()

    def lines(self, path):
        """Return the whole JSON lines of a file."""
        if not path.exists():
            return []
        text = path.read_text()
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def events(self, name, **fields):
        """Return what the supervisor said under this name."""
        told = [one for one in self.lines(self.log) if one.get("event") == name]
        return [one for one in told if fields.items() <= one.items()]

    def deaths(self):
        """Return what the clerk has written down."""
        return self.lines(self.folder / "deaths.jsonl")

    def death(self, job):
        """Return the facts of the death that had a job in hand, as soon as they are booked."""
        return wait_for(lambda: [d for d in self.deaths() if d["job"] == job])[0]

    def health(self):
        """Return what the supervisor last said of itself."""
        try:
            return json.loads((self.state / "health.json").read_bytes())
        except OSError:
            return {}

    def spooled(self):
        """Return the numbers of the deaths that nobody has booked."""
        lines = (self.state / "spool.jsonl").read_text().split("\n")
        told = [json.loads(line) for line in lines if line]
        return {one["n"] for one in told if "n" in one} - {one.get("ack") for one in told}

    def children(self, pid=None):
        """Return the direct children of the supervisor, by the kernel's word."""
        parent = pid or self.process.pid
        return [stat for stat in processes() if stat.parent == parent]

    def consumers(self):
        """Return the pids of living consumers in the order in which they came up."""
        alive = {stat.pid for stat in self.children() if stat.state not in "ZX"}
        came = [one for one in self.events("child_ready") if one["slot"] >= 0]
        return [one["pid"] for one in came if one["pid"] in alive]

    def descriptors(self):
        """Return how many descriptors the supervisor has open."""
        return len(descriptors_of(self.process.pid))

    def resident_kib(self):
        """Return how much memory the supervisor has, in KiB."""
        return rss_of(self.process.pid) // 1024

    def stop(self, number=signal.SIGTERM, within_s=PATIENCE_S):
        """Signal the supervisor and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(within_s)

    def pipes(self):
        """Return how many descriptors the supervisor has on each of its own pipes."""
        links, inherited = descriptors_of(self.process.pid), set(descriptors_of("self"))
        own = [link for link in links if link.startswith("pipe:") and link not in inherited]
        return {link: own.count(link) for link in own}


def descriptors_of(pid):
    """Return what a process has open, one entry a descriptor."""
    found = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(path.readlink()))
    return found
