"""`status`, `builds`, `jobs`: what there is, read only."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, get_args

import click

from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.phases import ENDS
from capture_consumer.builds.words import headline, plural, safe
from capture_consumer.cli import screen, tell
from capture_consumer.cli.door import Books, Door
from capture_consumer.database.transaction import Tx, reading
from capture_consumer.settings import without_password
from capture_consumer.tables import attempts, jobs, supervisors
from capture_consumer.tables.jobs import JobRow, JobStatus

__all__ = ["builds", "jobs_listed", "status"]

UP = timedelta(seconds=60)
STATUSES = get_args(JobStatus)


@click.command()
@click.option("--project", help="Only this project's.")
@click.option("--branch", help="Only this branch's.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
@click.pass_obj
def builds(
    door: Door, *, project: str | None, branch: str | None, limit: int, as_json: bool
) -> None:
    r"""List the newest builds, of all projects unless one is named.

    \b
    Example:    capture-consumer builds --branch main --limit 5
    Exit codes: 0 listed, 2 wrong usage, 8 no database.
    """
    with door.books(writing=False) as books:
        found = books.facts.recent(project=project, branch=branch, limit=limit)
        if as_json:
            screen.tell_json([tell.listed(build) for build in found])
            return
        now = books.clock.now()
        screen.show("Builds", [_build(books, one, now) for one in found], as_json=False)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.pass_obj
def status(door: Door, *, as_json: bool) -> None:
    r"""Show who is running, and how many jobs wait, run and have ended.

    \b
    Example:    capture-consumer status --json | jq .jobs.queued
    Exit codes: 0 shown, 2 wrong usage, 8 no database.
    """
    with door.books(writing=False) as books:
        now = books.clock.now()
        with reading(books.engine) as tx:
            seen = supervisors.listing(tx)
            counted = dict.fromkeys(STATUSES, 0) | dict(jobs.count_by_status(tx))
        open_now = [one for one in books.facts.recent(limit=1000) if one.phase not in ENDS]
        told = {
            "database": without_password(door.settings.database_url),
            "store": door.settings.store_url,
            "supervisors": [_supervisor(row, now) for row in seen],
            "consumers": sum(row.slots for row in seen if now - row.beat_at < UP),
            "jobs": counted,
            "open_builds": [tell.listed(one) for one in open_now],
        }
        if as_json:
            screen.tell_json(told)
            return
        _print_status(told)
        if open_now:
            screen.put("")
            rows = [_build(books, one, now) for one in open_now]
            screen.show("Open builds", rows, as_json=False)


def _print_status(told: Mapping[str, Any]) -> None:
    """Print the short form: where, who, how many."""
    waiting, running = told["jobs"]["queued"], told["jobs"]["running"]
    ended = ", ".join(f"{told['jobs'][word]:,} {word}" for word in STATUSES[2:])
    who = [_in_words(one) for one in told["supervisors"]]
    screen.pairs(
        [
            ("database", told["database"]),
            ("store", told["store"]),
            ("supervisors", "\n".join(who) or "none: start one with `capture-consumer start`"),
            ("jobs", f"{waiting:,} waiting, {running:,} running, {ended}"),
        ]
    )


def _in_words(one: Mapping[str, Any]) -> str:
    """Return a supervisor in one line; before its first report it keeps no consumers yet."""
    keeps = plural(one["consumers"], "consumer") if one["consumers"] else "starting"
    silent = "" if one["up"] else ", silent since: it is gone, or cannot reach the database"
    draining = ", draining" if one["draining"] else ""
    return f"{one['host']}: {keeps}{draining}, heard {one['heard']}{silent}"


def _supervisor(row: supervisors.SupervisorRow, now: datetime) -> dict[str, Any]:
    return {
        "host": row.host,
        "incarnation": row.incarnation,
        "version": row.version,
        "consumers": row.slots,
        "draining": row.draining,
        "up": now - row.beat_at < UP,
        "heard": screen.ago(row.beat_at, now),
    }


def _build(books: Books, build: BuildFact, now: datetime) -> dict[str, Any]:
    """Return a build as a row for people."""
    done, total, *_ = books.facts.progress(build.id) if build.phase not in ENDS else (0, 0)
    return {
        "build": f"{build.project.slug}/{build.number}",
        "state": screen.state(build.verdict or build.phase),
        "branch": safe(build.branch) if build.branch else None,
        "commit": build.commit_sha[: tell.SHORT] if build.commit_sha else None,
        "when": screen.ago(build.finished_at or build.created_at, now),
        "what": headline(build, progress=(done, total) if total else None),
    }


@click.command("jobs")
@click.option("--status", "state", type=click.Choice(STATUSES), help="Only those.")
@click.option("--build", help="Only this build's: its number, or project/number.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
@click.pass_obj
def jobs_listed(
    door: Door, *, state: JobStatus | None, build: str | None, limit: int, as_json: bool
) -> None:
    r"""List jobs, open ones first, and how their attempts ended.

    \b
    Example:    capture-consumer jobs --status failed
    Exit codes: 0 listed, 2 no such build, 8 no database.
    """
    with door.books(writing=False) as books:
        of = door.find(books, build).id if build else None
        with reading(books.engine) as tx:
            found = jobs.listing(tx, status=state, build_id=of, limit=limit)
            rows = [_job(tx, one) for one in found]
        named = {key: books.facts.build(key) for key in {one.build_id for one in found} if key}
        rows = [{**row, "build": _name(named.get(row["build_id"]))} for row in rows]
        if as_json:
            screen.tell_json(rows)
            return
        now = books.clock.now()
        screen.show("Jobs", [_job_row(row, now) for row in rows], as_json=False)


def _name(build: BuildFact | None) -> str | None:
    """Return a build as people name it; its id is in the jobs' names."""
    return f"{build.project.slug}/{build.number}" if build else None


def _job(tx: Tx, job: JobRow) -> dict[str, Any]:
    """Return a job and all its attempts."""
    return {
        "job": job.id,
        "kind": job.kind,
        "step": job.step,
        "status": job.status,
        "build_id": job.build_id,
        "suspect": job.suspect,
        "code": job.code,
        "error": job.error,
        "created_at": job.created_at,
        "visible_at": job.visible_at,
        "finished_at": job.finished_at,
        "attempts": [_attempt(one) for one in attempts.of_job(tx, job.id)],
    }


def _attempt(row: attempts.AttemptRow) -> dict[str, Any]:
    return {
        "attempt": row.attempt,
        "owner": row.owner,
        "outcome": row.outcome,
        "code": row.code,
        "error": row.error,
        "story": row.story,
    }


def _job_row(job: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return a job as a row for people."""
    ends: Sequence[Mapping[str, Any]] = job["attempts"]
    error = job["error"] or next((one["error"] for one in reversed(ends) if one["error"]), None)
    return {
        "job": job["job"],
        "build": job["build"],
        "does": job["step"] or job["kind"],
        "status": screen.state(job["status"]),
        "attempts": ", ".join(one["outcome"] or "open" for one in ends) or None,
        "since": screen.ago(job["finished_at"] or job["created_at"], now),
        "error": safe(error, 120) if error else None,
    }
