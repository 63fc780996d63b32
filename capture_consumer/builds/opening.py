"""What a client asks for when it opens a build, and what it is told (T1)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from capture_consumer.builds.facts import BuildKind, Phase

__all__ = ["CommitTold", "FileSent", "OpenBuild", "OpenedBuild"]


@dataclass(frozen=True, slots=True)
class CommitTold:
    """A commit as a client knows it; `parents` is None where its clone is too shallow."""

    sha: str
    parents: tuple[str, ...] | None
    tree: str | None = None
    committed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FileSent:
    """A file of what is submitted: its path inside the folder and its blob."""

    path: str
    sha: str
    bytes: int
    kind: Literal["file", "image"] = "file"


@dataclass(frozen=True, slots=True)
class OpenBuild:
    """T1: a build as it is asked for. `project` is a slug; it is made at its first submit."""

    project: str
    nonce: str
    kind: BuildKind
    name: str = "default"
    commit: str | None = None
    head: str | None = None
    branch: str | None = None
    pull: int | None = None
    base_branch: str | None = None
    pinned_base: str | None = None
    commits: tuple[CommitTold, ...] = ()
    files: tuple[FileSent, ...] = ()
    subset: bool = False
    trusted: bool = True
    ci_run: str | None = None
    retry_of: int | None = None
    default_branch: str | None = None


@dataclass(frozen=True, slots=True)
class OpenedBuild:
    """What T1 gave. `is_new` is False when the nonce had made this build before."""

    build_id: int
    project: str
    number: int
    phase: Phase
    is_new: bool
