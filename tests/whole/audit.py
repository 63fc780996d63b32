"""What must hold of a database by SQL alone, once everything has come to rest (queue.md, D)."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

__all__ = ["deviations", "faults"]

Rows = Callable[[str], list[Any]]

NOTHING_MAY_BE_FOUND: Mapping[str, str] = {
    "S1: two open attempts of a job": """
        SELECT job_id FROM job_attempts WHERE ended_at IS NULL
         GROUP BY job_id HAVING count(*) > 1""",
    "S2: running without its open attempt": """
        SELECT id FROM jobs j WHERE status = 'running' AND NOT EXISTS (
          SELECT 1 FROM job_attempts a WHERE a.job_id = j.id AND a.attempt = j.attempt
             AND a.ended_at IS NULL)""",
    "S2: an open attempt of a job that is neither running nor cancelled": """
        SELECT j.id, j.status FROM jobs j JOIN job_attempts a ON a.job_id = j.id
         WHERE a.ended_at IS NULL AND j.status NOT IN ('running', 'cancelled')""",
    "S3: a gap in the numbers of attempts": """
        SELECT j.id, j.attempt, count(a.attempt) FROM jobs j
          LEFT JOIN job_attempts a ON a.job_id = j.id
         GROUP BY j.id, j.attempt
        HAVING count(a.attempt) <> j.attempt OR coalesce(max(a.attempt), 0) <> j.attempt""",
    "S3: an end without its word": """
        SELECT job_id, attempt FROM job_attempts
         WHERE (ended_at IS NULL) <> (outcome IS NULL)""",
    "S4: two attempts done": """
        SELECT job_id FROM job_attempts WHERE outcome = 'done'
         GROUP BY job_id HAVING count(*) > 1""",
    "S4: done without an attempt that is done": """
        SELECT id FROM jobs j WHERE status = 'done' AND NOT EXISTS (
          SELECT 1 FROM job_attempts a WHERE a.job_id = j.id AND a.outcome = 'done')""",
    "S6: an attempt left open": """
        SELECT job_id, attempt FROM job_attempts WHERE ended_at IS NULL""",
    "S8: a budget overdrawn": """
        SELECT job_id, outcome, count(*) FROM job_attempts WHERE NOT explained
         GROUP BY job_id, outcome
        HAVING count(*) > CASE outcome WHEN 'failed' THEN 3 WHEN 'timed_out' THEN 3
                 WHEN 'crashed' THEN 3 WHEN 'lost' THEN 5 WHEN 'released' THEN 20
                 ELSE 1 END""",
    "a job left open": "SELECT id, status FROM jobs WHERE status IN ('queued', 'running')",
    "a build that did not end": """
        SELECT id, phase FROM builds WHERE phase NOT IN
          ('finished', 'failed', 'cancelled', 'superseded', 'expired')""",
    "a shard that did not end": "SELECT id FROM shards WHERE state IN ('pending', 'running')",
    "a snapshot of a finished build without an end": """
        SELECT s.id, s.state, s.outcome FROM snapshots s JOIN builds b ON b.id = s.build_id
         WHERE b.phase = 'finished' AND (s.state = 'planned' OR s.outcome IS NULL)""",
    "a snapshot saved twice": """
        SELECT snapshot_id FROM tries GROUP BY snapshot_id
        HAVING count(DISTINCT attempt) > 1""",
    "S5: a try of an attempt that never was": """
        SELECT t.id FROM tries t LEFT JOIN job_attempts a
            ON a.job_id = t.job_id AND a.attempt = t.attempt WHERE a.job_id IS NULL""",
    "S5: a try saved after its attempt had ended": """
        SELECT t.id FROM tries t JOIN job_attempts a
            ON a.job_id = t.job_id AND a.attempt = t.attempt WHERE t.started_at > a.ended_at""",
    "not one reduce job": """
        SELECT b.id, count(j.id) FROM builds b
          LEFT JOIN jobs j ON j.build_id = b.id AND j.step = 'reduce'
         WHERE b.phase = 'finished' GROUP BY b.id HAVING count(j.id) <> 1""",
    "two plan jobs": """
        SELECT build_id FROM jobs WHERE step = 'plan' GROUP BY build_id HAVING count(*) <> 1""",
    "counts that are no recount of the shard": """
        SELECT h.id, h.ended FROM shards h JOIN builds b ON b.id = h.build_id
         WHERE b.phase = 'finished' AND h.state = 'done' AND h.ended <> (
               SELECT count(*) FROM snapshots s WHERE s.shard_id = h.id
                  AND s.state <> 'planned')""",
    "a lifecycle row left over": """
        SELECT id, hook_type, status FROM lifecycle_events
         WHERE status IN ('pending', 'running')""",
}


def faults(rows: Rows) -> list[str]:
    """Return what is wrong, in a line each; `rows` runs a statement."""
    return [
        f"{what}: {[tuple(row) for row in found[:5]]}"
        for what, statement in NOTHING_MAY_BE_FOUND.items()
        if (found := rows(statement))
    ]


def deviations(rows: Rows, expected: Mapping[int, Mapping[str, str]]) -> list[tuple[str, bool]]:
    """Return what differs from an undisturbed run, and whether the rows account for it.

    A story may be `errored` if two deaths with it in hand are explained by it (JOB-126),
    or `lost` if the job of its shard used a budget up; a build may be `failed` likewise.
    """
    gave_up = {row[0] for row in rows("SELECT id FROM jobs WHERE status = 'failed'")}
    told = "SELECT job_id, story FROM job_attempts WHERE explained"
    blamed = {tuple(row) for row in rows(told)}
    found: list[tuple[str, bool]] = []
    for build, wanted in expected.items():
        phase = rows(f"SELECT phase, error_text FROM builds WHERE id = {build}")[0]
        if phase[0] != "finished":
            excused = bool({f"plan:{build}", f"reduce:{build}"} & gave_up)
            found.append((f"build {build} {phase[0]}: {phase[1]}", excused))
            continue
        found += _stories(rows, build, wanted, gave_up, blamed)
    return found


def _stories(
    rows: Rows,
    build: int,
    wanted: Mapping[str, str],
    gave_up: Collection[str],
    blamed: Collection[tuple[str, str]],
) -> list[tuple[str, bool]]:
    seen = rows(
        "SELECT k.story_id, s.outcome, h.idx FROM snapshots s"
        " JOIN keys k ON k.id = s.key_id LEFT JOIN shards h ON h.id = s.shard_id"
        f" WHERE s.build_id = {build}"
    )
    found = []
    for story, outcome, idx in seen:
        if wanted.get(story) != outcome:
            job = f"shard:{build}:{idx}"
            errored = outcome == "errored" and (job, story) in blamed
            lost = outcome == "lost" and job in gave_up
            told = f"build {build} {story}: {outcome}, not {wanted.get(story)}"
            found.append((told, errored or lost))
    missing = set(wanted) - {row[0] for row in seen}
    return [*found, *((f"build {build} {story}: missing", False) for story in missing)]
