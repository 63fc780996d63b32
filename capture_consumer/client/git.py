"""What git says about the working tree: commit, branch, and the history above it.

Git is asked through its own program, read only. A shallow clone's horizon is told as
unknown parents, never as a root: roots have no history, a horizon hides some (BUILD-24).
"""

import os
import re
import subprocess
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from capture_consumer.errors import BadInput

__all__ = [
    "COMMITS_MOST",
    "Commit",
    "GitFacts",
    "Place",
    "full_sha",
    "look",
    "merged_parents",
    "place",
]

COMMITS_MOST = 1_000
TIMEOUT_S = 60
FULL = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
QUIETLY = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
FIELDS = "%H%x1f%P%x1f%T%x1f%ct"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. `parents` is None where the clone is too shallow to know them."""

    sha: str
    parents: tuple[str, ...] | None
    tree: str | None
    committed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Place:
    """A repository: its top folder, and its name by its remote, if it has one."""

    root: Path
    repository: str | None


@dataclass(frozen=True, slots=True)
class GitFacts:
    """What a working tree stands on.

    `branch` is the one checked out, None on a detached head; `points_at` is then the only
    local branch that stands there, if it is one. `commits` begins with `commit`; `shallow`
    tells that some of them have unknown parents.
    """

    root: Path
    commit: str
    branch: str | None
    points_at: str | None
    commits: tuple[Commit, ...]
    shallow: bool
    default_branch: str | None
    repository: str | None


def place(folder: Path) -> Place | None:
    """Return the repository that a folder lies in, or None."""
    top = _ask(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    return Place(Path(top), _repository(_ask(folder, "remote", "get-url", "origin")))


def look(folder: Path, *, commit: str = "HEAD") -> GitFacts | None:
    """Return what git knows of `commit`, or None where there is no repository or no commit.

    Raises:
        BadInput: git is there but refuses, or does not know the commit.
    """
    here = place(folder)
    if here is None:
        return None
    is_head = commit == "HEAD"
    sha = _ask(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if sha is None:
        if is_head:
            return None
        raise BadInput(f"git does not know the commit {commit!r}: fetch it, or leave it out")
    commits, shallow = _history(folder, sha)
    return GitFacts(
        root=here.root,
        commit=sha,
        branch=_ask(folder, "symbolic-ref", "--quiet", "--short", "HEAD") if is_head else None,
        points_at=_points_at(folder, sha),
        commits=commits,
        shallow=shallow,
        default_branch=_default_branch(folder),
        repository=here.repository,
    )


def merged_parents(facts: GitFacts) -> GitFacts:
    """Return the facts of an ephemeral merge with its two parents known (BUILD-23).

    A clone of depth 1 hides them from the history; the commit itself still names them.
    """
    said = _ask(facts.root, "cat-file", "commit", facts.commit) or ""
    header = said.partition("\n\n")[0].splitlines()
    parents = tuple(line.split()[1] for line in header if line.startswith("parent "))
    if not parents:
        return facts
    known = {one.sha for one in facts.commits}
    beyond = tuple(Commit(sha, None, None, None) for sha in parents if sha not in known)
    first = replace(facts.commits[0], parents=parents)
    return replace(facts, commits=(first, *facts.commits[1:], *beyond))


def person(folder: Path) -> str | None:
    """Return the name that git signs commits with here."""
    return _ask(folder, "config", "user.name") or None


def full_sha(text: str) -> str:
    """Return a full commit hash in lower case (BUILD-7)."""
    lower = text.lower()
    if not FULL.fullmatch(lower):
        raise BadInput(f"{text!r} is no full commit hash: give all 40 or 64 hex digits")
    return lower


def _history(folder: Path, sha: str) -> tuple[tuple[Commit, ...], bool]:
    """Return the commits nearest to one, it first, and whether a horizon is among them."""
    horizon = _horizon(folder)
    told = _ask(folder, "log", f"-{COMMITS_MOST}", f"--format={FIELDS}", sha, "--") or ""
    commits = []
    for line in told.splitlines():
        one, parents, tree, at = line.split("\x1f")
        known = None if one in horizon else tuple(parents.split())
        commits.append(Commit(one, known, tree, datetime.fromtimestamp(int(at), UTC)))
    return tuple(commits), any(one.parents is None for one in commits)


def _horizon(folder: Path) -> set[str]:
    """Return the commits at which a shallow clone was cut."""
    named = _ask(folder, "rev-parse", "--git-path", "shallow")
    path = folder / named if named else None
    return set(path.read_text(encoding="ascii").split()) if path and path.is_file() else set()


def _points_at(folder: Path, sha: str) -> str | None:
    """Return the local branch that stands on a commit, where it is only one."""
    told = _ask(
        folder,
        "for-each-ref",
        f"--points-at={sha}",
        "--format=%(refname:lstrip=2)",
        "refs/heads",
    )
    names = (told or "").splitlines()
    return names[0] if len(names) == 1 else None


def _default_branch(folder: Path) -> str | None:
    """Return the branch that the remote calls its head, else a local `main` or `master`."""
    remote = _ask(folder, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    if remote:
        return remote.partition("/")[2]
    for name in ("main", "master"):
        if _ask(folder, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}"):
            return name
    return None


def _repository(url: str | None) -> str | None:
    """Return the repository's own name: the last part of its address."""
    last = re.split(r"[/:]", (url or "").rstrip("/"))[-1]
    return last.removesuffix(".git") or None


def _ask(folder: Path, *words: str) -> str | None:
    """Return what git prints, or None where it says no.

    Raises:
        BadInput: git would know, but refuses this folder to this user.
    """
    try:
        told = subprocess.run(  # noqa: S603 - a list of words, no shell
            ["git", "--no-replace-objects", "-C", str(folder), *words],  # noqa: S607
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            env={**os.environ, **QUIETLY},
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"git {words[0]} took more than {TIMEOUT_S} s") from error
    said = told.stderr.decode("utf-8", "replace")
    if "dubious ownership" in said:
        safe = f"git config --global --add safe.directory {folder}"
        raise BadInput(f"git refuses this repository, another user owns it: run `{safe}`")
    return told.stdout.decode("utf-8", "replace").strip() if told.returncode == 0 else None
