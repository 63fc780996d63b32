"""A project's folder with the real command line, supervisor, consumers and browser in it."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text

from capture_consumer.clock import boot_seconds
from capture_consumer.database.engine import open_engine
from capture_consumer.database.transaction import reading
from tests.storybooks import tiny

__all__ = ["House", "wait_for"]

PATIENCE_S = 150.0
ENDS = {"finished", "failed", "cancelled", "superseded", "expired"}


def wait_for(condition: Callable[[], Any], what: str, *, within_s: float = PATIENCE_S) -> Any:
    """Return what the condition gives once it is true; fail after a deadline."""
    until_s = boot_seconds() + within_s
    while not (seen := condition()):
        assert boot_seconds() < until_s, f"waited {within_s:g} s for {what}"
        threading.Event().wait(0.02)
    return seen


class House:
    """Runs commands as a person would, on one database, in a folder without git."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.state = folder / "state"
        self.log = folder / "start.log"
        self.supervisor: subprocess.Popen[bytes] | None = None
        self.engine = open_engine(url)
        self.environ = {
            **{name: value for name, value in os.environ.items() if "CAPTURE_" not in name},
            "CAPTURE_DATABASE_URL": url,
            "CAPTURE_STORE": str(folder / "store"),
            "CAPTURE_STATE_DIR": str(self.state),
            "CAPTURE_LOG_FORMAT": "json",
        }

    def run(self, *words: str, code: int | None = 0) -> str:
        """Run a command to its end; return what it printed on standard output."""
        done = subprocess.run(
            [sys.executable, "-m", "capture_consumer", *words],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        told = f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert code is None or done.returncode == code, told
        return done.stdout

    def json(self, *words: str) -> Any:
        """Run a command with --json; return what it said."""
        return json.loads(self.run(*words, "--json"))

    def storybook(self, name: str, stories: Sequence[tiny.Story]) -> str:
        """Write a Storybook; return its folder."""
        return str(tiny.write(self.folder / name, stories))

    def submit(self, folder: str, *, project: str = "shop") -> str:
        """Submit without waiting; return the build's name."""
        told = self.json("submit", folder, "--project", project, "--no-wait")
        return f"{told['project']}/{told['number']}"

    def start(self, *, consumers: int = 2, grace: int = 10) -> None:
        """Start a supervisor; it becomes a process of its own session."""
        command = [sys.executable, "-m", "capture_consumer", "start"]
        with self.log.open("ab") as log:
            self.supervisor = subprocess.Popen(
                [*command, "--consumers", str(consumers), "--grace", str(grace)],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    def stop(self) -> int:
        """Ask the supervisor to drain; return its exit code."""
        assert self.supervisor is not None
        self.supervisor.send_signal(signal.SIGTERM)
        return self.supervisor.wait(60)

    def health(self) -> dict[str, Any]:
        """Return what the supervisor last said of itself."""
        try:
            path = next(self.state.glob("*/health.json"))
            told: dict[str, Any] = json.loads(path.read_bytes())
        except (StopIteration, OSError, ValueError):
            return {"slots": []}
        return told

    def show(self, build: str) -> dict[str, Any]:
        """Return `show --json` of a build."""
        told: dict[str, Any] = self.json("show", build)
        return told

    def wait_for_end(self, build: str, *, within_s: float = PATIENCE_S) -> dict[str, Any]:
        """Wait until the build has ended; return it."""
        slug, number = build.split("/")
        phase = (
            "SELECT phase FROM builds JOIN projects ON projects.id = project_id"
            " WHERE slug = :slug AND number = :number"
        )

        def ended() -> bool:
            return self.rows(phase, slug=slug, number=int(number))[0][0] in ENDS

        try:
            wait_for(ended, f"the end of {build}", within_s=within_s)
        except AssertionError as error:
            log = self.log.read_text(encoding="utf-8")[-6000:]
            raise AssertionError(f"{error}\n{self.run('jobs')}\n{log}") from error
        return self.show(build)

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """Return the rows of a statement, for audits."""
        with reading(self.engine) as tx:
            return list(tx.execute(text(statement), values))

    def holder_of(self, job: str) -> int | None:
        """Return the pid of the process that holds this job now."""
        found = self.rows(
            "SELECT pid FROM job_attempts WHERE job_id = :job AND ended_at IS NULL", job=job
        )
        return found[0][0] if found else None

    def ends(self, like: str = "%") -> list[str]:
        """Return how attempts ended, by job and number."""
        ended = (
            "SELECT outcome FROM job_attempts WHERE job_id LIKE :like ORDER BY job_id, attempt"
        )
        return [row[0] for row in self.rows(ended, like=like)]

    def ours(self) -> list[psutil.Process]:
        """Return every living process that names this folder: ours, and the browsers'."""
        found = []
        for process in psutil.process_iter():
            try:
                words = " ".join(process.cmdline())
                named = words + " ".join(process.environ().values())
            except psutil.Error:
                continue
            if str(self.folder) in named and process.pid != os.getpid():
                found.append(process)
        return found

    def kill_all(self) -> None:
        """Kill everything at once, as a host does that loses its power."""
        for process in self.ours():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.supervisor is not None:
            self.supervisor.wait(10)

    def close(self) -> None:
        """End what a failed test left, and the database's connections."""
        try:
            self.kill_all()
        finally:
            self.engine.dispose()


def outcomes_of(build: dict[str, Any]) -> dict[str, str]:
    """Return the outcome of each story."""
    return {one["story_id"]: one["outcome"] for one in build["snapshots"]}
