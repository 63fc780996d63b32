"""A build begins: it is opened, and finalized once all of it is stored (T1, T2)."""

import json
from datetime import datetime, timedelta
from hashlib import sha256

from capture_consumer.builds.effects import OpenBuild, OpenedBuild, StoredBlob
from capture_consumer.builds.facts import ProjectFact
from capture_consumer.builds.identity import check_commit, check_slug
from capture_consumer.database.transaction import Tx
from capture_consumer.errors import NotFound, Refused
from capture_consumer.records import moving
from capture_consumer.tables import blobs, builds, commits, jobs, lanes, projects, uploads
from capture_consumer.tables.builds import BuildRow

__all__ = ["finalize", "open_build"]

DEADLINE = timedelta(hours=3)
SHOWN_MISSING = 3


def open_build(tx: Tx, request: OpenBuild, *, now: datetime) -> OpenedBuild:
    """Make a build in `receiving` with its number, lane, commits and list of files (T1).

    The project is made at its first submit, and its row is locked from the first
    statement on, so two requests with one nonce make one build (BUILD-1, BUILD-95).

    Raises:
        BadInput: the project's name or a commit is not written as it has to be.
        Refused: the nonce has made a build of another commit, name or kind.
    """
    check(request)
    project = projects.ensure(
        tx, request.project, default_branch=request.default_branch, now=now
    )
    before = builds.of_nonce(tx, project.id, request.nonce)
    if before is not None:
        return opened_before(before, request)
    keep_files(tx, request, now=now)
    commits.keep(tx, project.id, request.commits)
    number = projects.take_number(tx, project.id)
    build_id = insert_build(tx, request, project, number, now=now)
    uploads.add(tx, build_id, request.files)
    return OpenedBuild(build_id, project.slug, number, "receiving", is_new=True)


def insert_build(
    tx: Tx, request: OpenBuild, project: ProjectFact, number: int, *, now: datetime
) -> int:
    """Insert the build's row, in its lane, and return its id."""
    ref = ref_of(request, project)
    return builds.create(
        tx,
        now=now,
        project_id=project.id,
        number=number,
        lane_id=lanes.ensure(tx, project_id=project.id, name=request.name, ref=ref, now=now),
        name=request.name,
        nonce=request.nonce,
        kind=request.kind,
        commit_sha=request.commit,
        head_sha=request.head or request.commit,
        branch=request.branch,
        pull=request.pull,
        base_branch=request.base_branch,
        pinned_base=request.pinned_base,
        source_sha=source_sha(request),
        subset=request.subset,
        trusted=request.trusted,
        ci_run=request.ci_run,
        retry_of=request.retry_of,
    )


def check(request: OpenBuild) -> None:
    """Refuse what cannot be an identity (BUILD-1, BUILD-7)."""
    check_slug(request.project)
    named = [request.commit, request.head, *(one.sha for one in request.commits)]
    named += [parent for one in request.commits for parent in one.parents or ()]
    for sha in named:
        if sha is not None:
            check_commit(sha)


def opened_before(build: BuildRow, request: OpenBuild) -> OpenedBuild:
    """Return the build that this nonce has made, if it is the same one (T1)."""
    is_same = (build.commit_sha, build.name, build.kind) == (
        request.commit,
        request.name,
        request.kind,
    )
    if not is_same:
        raise Refused(
            f"nonce {request.nonce!r} made build {build.number} ({build.name}, {build.kind}, "
            f"commit {build.commit_sha}); this is {request.name}, {request.kind}, "
            f"commit {request.commit}"
        )
    return OpenedBuild(build.id, request.project, build.number, build.phase, is_new=False)


def keep_files(tx: Tx, request: OpenBuild, *, now: datetime) -> None:
    """Note the blobs that the client has stored already."""
    kept = [StoredBlob(one.sha, one.bytes, one.kind) for one in request.files]
    blobs.keep(tx, kept, now=now)


def ref_of(request: OpenBuild, project: ProjectFact) -> str:
    """Return the lane's ref: the pull request when one is named, else the branch."""
    if request.pull is not None:
        return f"pr/{request.pull}"
    return request.branch or project.default_branch


def source_sha(request: OpenBuild) -> str:
    """Return the hash of the list of what was sent; equal folders have equal ones."""
    listed = sorted((one.path, one.sha) for one in request.files)
    return sha256(json.dumps(listed).encode()).hexdigest()


def finalize(tx: Tx, build_id: int, now: datetime) -> bool:
    """Say that all of a build was sent: to `pending`, with its plan job and deadline (T2).

    Returns False when it had been said before; that is no error (BUILD-105).

    Raises:
        NotFound: there is no such build.
        Refused: blobs are missing, or the build has ended before.
    """
    build = builds.lock(tx, build_id)
    if build is None:
        raise NotFound(f"there is no build with the id {build_id}")
    if build.phase in {"cancelled", "superseded", "expired"}:
        raise Refused(f"build {build.number} is {build.phase}")
    if build.phase != "receiving":
        return False
    absent = uploads.missing(tx, build_id)
    if absent:
        some = ", ".join(absent[:SHOWN_MISSING])
        raise Refused(f"build {build.number}: {len(absent)} files are not stored yet: {some}")
    values = {"pending_at": now, "activity_at": now, "deadline_at": now + DEADLINE}
    moving.move(tx, build, "pending", now=now, values=values)
    jobs.enqueue(
        tx, job_id=f"plan:{build_id}", kind="capture", step="plan", build_id=build_id, now=now
    )
    return True
