"""What is known of a build before it is opened: a person's word, then git's, then the CI's.

The CI's word counts only for the repository it runs for: a temporary repository that a
CI step makes must not become a build of the pull request that is being tested.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from capture_consumer.client import ci, git
from capture_consumer.errors import BadInput

__all__ = ["Given", "Known", "gather", "project_here", "slug_of"]

SLUG_MOST = 63
SHORT = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a person said; None is left to be found."""

    project: str | None = None
    branch: str | None = None
    commit: str | None = None
    base: str | None = None
    pull: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a build (BUILD-22). `head_sha` is what status and comment go to."""

    project: str
    commit: str | None
    head_sha: str | None
    branch: str | None
    pull: int | None
    base_branch: str | None
    default_branch: str | None
    commits: tuple[git.Commit, ...]
    shallow: bool
    run: str | None
    source: str

    def says(self) -> Iterator[tuple[str, str]]:
        """Return what was found, for a person: what it is, and its value."""
        yield "project", self.project
        if self.commit:
            yield "commit", f"{self.commit[:SHORT]} on {self.branch or 'no branch'}"
        else:
            yield "commit", "none: no git here, compared with the newest finished build"
        if self.head_sha != self.commit and self.head_sha:
            yield "head", f"{self.head_sha[:SHORT]} (the commit is a merge made for this run)"
        if self.pull:
            yield "pull", f"{self.pull} into {self.base_branch or 'an unknown branch'}"
        if self.commits:
            cut = ", cut by a shallow clone" if self.shallow else ""
            count = f"{len(self.commits):,} commit{'s' if len(self.commits) > 1 else ''}"
            yield "history", f"{count}{cut}"
        yield "found by", self.source


def gather(
    folder: Path, environ: Mapping[str, str], given: Given, *, project: str | None = None
) -> Known:
    """Return what is known of a build submitted from `folder`.

    Args:
        folder: the working directory; git is asked about it.
        environ: the CI is asked through it.
        given: what a person said; it wins.
        project: the slug that the settings name.

    Raises:
        BadInput: a value that was given is not usable, or git refuses.
    """
    tree = git.look(folder, commit=given.commit or "HEAD")
    run = _of_this(ci.look(environ), tree)
    if run and tree and run.merged:
        tree = git.merged_parents(tree)
    commit = tree.commit if tree else _alone(given.commit or (run.commit if run else None))
    found = (given.project, project, tree and tree.repository, run and run.repository)
    named = (
        next((name for name in found if name), None)
        or (tree.root if tree else folder.resolve()).name
    )
    return Known(
        project=given.project or slug_of(named),
        commit=commit,
        head_sha=_head(tree, run) or commit,
        branch=given.branch or _branch(tree, run),
        pull=given.pull or (run.pull if run else None),
        base_branch=given.base or (run.base_branch if run else None),
        default_branch=(run and run.default_branch) or (tree and tree.default_branch) or None,
        commits=tree.commits if tree else (),
        shallow=tree.shallow if tree else False,
        run=run.run if run else None,
        source=" and ".join(name for name in (tree and "git", run and run.name) if name)
        or "what you said",
    )


def project_here(folder: Path, environ: Mapping[str, str]) -> str:
    """Return the slug of the project that a folder belongs to, without its history."""
    place = git.place(folder)
    run = ci.look(environ) if place is None else None
    name = (place and place.repository) or (run and run.repository)
    return slug_of(name or (place.root if place else folder.resolve()).name)


def slug_of(name: str) -> str:
    """Return a project's slug made of any name (BUILD-1)."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:SLUG_MOST]
    return slug or "project"


def _of_this(run: ci.CiFacts | None, tree: git.GitFacts | None) -> ci.CiFacts | None:
    """Return the CI's facts if they are about this repository."""
    if run is None or tree is None or run.commit is None:
        return run
    here = {one.sha for one in tree.commits}
    return run if run.commit in here else None


def _alone(commit: str | None) -> str | None:
    """Return a commit that no git is there to resolve."""
    if commit is None:
        return None
    if commit == "HEAD":
        raise BadInput("HEAD needs git: run this inside the repository, or give a full hash")
    return git.full_sha(commit)


def _head(tree: git.GitFacts | None, run: ci.CiFacts | None) -> str | None:
    """Return what a merge made for this run merges in (BUILD-23); None if it is none."""
    if not tree or not run or not run.merged:
        return None
    parents = tree.commits[0].parents or ()
    if len(parents) < len(("base", "head")):
        return None  # the step checked out the head itself
    return run.head_sha if run.head_sha in parents else parents[1]


def _branch(tree: git.GitFacts | None, run: ci.CiFacts | None) -> str | None:
    """Return the branch of the pull request, of the checkout, of the CI, or the only one."""
    said = (
        run.branch if run and run.pull else None,
        tree.branch if tree else None,
        run.branch if run else None,
        tree.points_at if tree else None,
    )
    return next((name for name in said if name), None)
