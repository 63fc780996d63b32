"""One snapshot: taken until its pictures agree, developed, compared right away.

Bytes go to the store before anything names them. Nothing here writes a row.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from capture_consumer.builds.effects import SnapshotResult, TryMade
from capture_consumer.builds.facts import SnapshotFact
from capture_consumer.builds.identity import Mode
from capture_consumer.clock import Clock
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.errors import BrowserDied, InvalidImage
from capture_consumer.handlers.capture.comparing import compare_with
from capture_consumer.handlers.capture.content import Content
from capture_consumer.handlers.capture.tools import Camera, Shot
from capture_consumer.handlers.capture.tries import Decision, Vote, decide
from capture_consumer.images.compare import Rule
from capture_consumer.images.decode import Picture, decode
from capture_consumer.images.fingerprint import pixel_sha

__all__ = ["Sitting", "shoot"]

DEATHS_MAX = 2
EMPTY = "It painted nothing."


@dataclass(slots=True)
class Sitting:
    """All that is needed to take one snapshot, and what it has come to so far.

    `begin` is called before each try and may raise `Interrupted`.
    """

    camera: Camera
    clock: Clock
    content: Content
    rule: Rule
    snapshot: SnapshotFact
    mode: Mode
    begin: Callable[[], None]
    votes: list[Vote] = field(default_factory=list)
    tries: list[TryMade] = field(default_factory=list)
    pictures: dict[str, Picture] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    deaths: int = 0

    def knows(self, png: bytes) -> bool:
        """Tell whether these bytes are the tentative baseline's."""
        baseline = self.snapshot.baseline
        return baseline is not None and sha256(png).hexdigest() == baseline.blob_sha


def shoot(sitting: Sitting) -> SnapshotResult:
    """Take pictures of one snapshot until they agree or it is clear that they will not.

    Raises:
        Interrupted: between two tries; the snapshot stays planned.
        BrowserUnusable: no fault of the story's (BUILD-38).
    """
    baseline = sitting.snapshot.baseline
    decision = None
    while decision is None:
        sitting.begin()
        started_at = sitting.clock.now()
        try:
            shot = _take(sitting)
        except BrowserDied as error:
            sitting.deaths += 1
            sitting.tries.append(_died(error, started_at, sitting.clock.now()))
            if sitting.deaths == DEATHS_MAX:
                sitting.begin()  # A hurry kills the browser, too: that is not the story's.
                return _browser_died(sitting, error)
            continue
        vote = _develop(sitting, shot)
        sitting.votes.append(vote)
        sitting.tries.append(_try_made(sitting, shot, vote, started_at))
        decision = decide(sitting.votes, baseline.pixel_sha if baseline else None)
    return _result(sitting, decision)


def _take(sitting: Sitting) -> Shot:
    first = not sitting.votes and not sitting.deaths
    return sitting.camera.take(
        sitting.snapshot.key.story_id,
        sitting.mode,
        fresh=not first,
        known=sitting.knows if sitting.snapshot.baseline and not sitting.votes else None,
    )


def _develop(sitting: Sitting, shot: Shot) -> Vote:
    """Store a shot's picture and return its vote."""
    sitting.warnings = shot.warnings + ((EMPTY,) if shot.empty else ())
    if shot.result == "errored" or shot.png is None:
        return Vote("errored", None, shot.code or "errored", shot.message)
    baseline = sitting.snapshot.baseline
    if baseline is not None and sitting.knows(shot.png):
        return Vote(shot.result, baseline.pixel_sha)
    try:
        picture = decode(shot.png)
    except InvalidImage as error:
        return Vote("errored", None, error.code, str(error))
    sha = pixel_sha(picture)
    if baseline is None or sha != baseline.pixel_sha:
        sitting.content.put_image(shot.png, sha, picture)
        sitting.pictures[sha] = picture
    return Vote(shot.result, sha, shot.code, shot.message)


def _try_made(sitting: Sitting, shot: Shot, vote: Vote, started_at: datetime) -> TryMade:
    log = safe_text(shot.log, at_most=64 * 1024)
    error: dict[str, Any] = {"steps_ms": dict(shot.steps_ms)} if shot.steps_ms else {}
    if vote.code or vote.message:
        error |= {"code": vote.code, "message": safe_text(vote.message or "")}
    if sitting.warnings:
        error["warnings"] = [safe_text(one) for one in sitting.warnings]
    return TryMade(
        started_at=started_at,
        ended_at=sitting.clock.now(),
        result=vote.result,
        pixel_sha=vote.pixel_sha,
        error=error or None,
        log_sha=sitting.content.put(log.encode(), "log") if log else None,
    )


def _died(error: BrowserDied, started_at: datetime, ended_at: datetime) -> TryMade:
    facts = {"code": error.code, "message": safe_text(str(error))}
    return TryMade(started_at=started_at, ended_at=ended_at, result="died", error=facts)


def _browser_died(sitting: Sitting, error: BrowserDied) -> SnapshotResult:
    return SnapshotResult(
        snapshot_id=sitting.snapshot.id,
        state="errored",
        error_code=error.code,
        message=safe_text(f"It killed its browser twice, alone the second time: {error}"),
        tries=tuple(sitting.tries),
    )


def _result(sitting: Sitting, decision: Decision) -> SnapshotResult:
    vote = decision.vote
    agreed = vote.pixel_sha if decision.state == "captured" else None
    baseline = sitting.snapshot.baseline
    if agreed is not None and baseline is not None and agreed != baseline.pixel_sha:
        picture = sitting.pictures[agreed]
        compare_with(sitting.content, sitting.rule, baseline, pixel_sha=agreed, after=picture)
    message = vote.message
    if decision.state == "unstable":
        message = _unstable(sitting)
    elif decision.state == "captured":
        message = "; ".join(sitting.warnings) or None
    return SnapshotResult(
        snapshot_id=sitting.snapshot.id,
        state=decision.state,
        flaky=decision.flaky,
        pixel_sha=agreed,
        error_code=vote.code if decision.state == "errored" else None,
        message=safe_text(message) if message else None,
        tries=tuple(sitting.tries),
    )


def _unstable(sitting: Sitting) -> str:
    moved = sum(vote.result == "moving" for vote in sitting.votes)
    if moved == len(sitting.votes):
        return f"It did not come to rest in any of {moved} tries."
    return f"No two of {len(sitting.votes)} tries agree."
