"""Real git repositories, made by the tests that need them."""

import os
import subprocess
from pathlib import Path

__all__ = ["Repository"]

AUTHOR = {
    "GIT_AUTHOR_NAME": "ana",
    "GIT_AUTHOR_EMAIL": "ana@example.org",
    "GIT_COMMITTER_NAME": "ana",
    "GIT_COMMITTER_EMAIL": "ana@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


class Repository:
    """A git repository in a folder of the test's own."""

    def __init__(self, folder: Path, *, clone_of: "Repository | None" = None, depth: int = 0):
        self.folder = folder
        self.count = 0
        if clone_of is None:
            folder.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "-b", "main")
        else:
            depths = (f"--depth={depth}",) if depth else ()
            self.git("clone", "-q", *depths, f"file://{clone_of.folder}", str(folder), at="/")

    def git(self, *words: str, at: str | Path | None = None) -> str:
        """Run git here and return what it prints."""
        told = subprocess.run(
            ["git", "-C", str(at or self.folder), *words],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **AUTHOR},
        )
        return told.stdout.strip()

    def commit(self, at: int | None = None) -> str:
        """Make a commit with a file of its own; return its hash."""
        self.count += 1
        (self.folder / f"file{self.count}").write_text(str(self.count))
        self.git("add", ".")
        dated = ("--date", f"{1_700_000_000 + (at or self.count)} +0000")
        self.git("commit", "-q", "-m", f"change {self.count}", *dated)
        return self.git("rev-parse", "HEAD")

    def merge(self, *branches: str) -> str:
        """Merge branches into what is checked out; return the merge's hash."""
        self.git("merge", "-q", "--no-ff", "-m", "merge", *branches)
        return self.git("rev-parse", "HEAD")

    @classmethod
    def commit_in(cls, folder: Path) -> str:
        """Commit all that is in an existing repository's folder."""
        here = cls.__new__(cls)
        here.folder, here.count = folder, 0
        here.git("add", ".")
        here.git("commit", "-q", "--allow-empty", "-m", "a change")
        return here.git("rev-parse", "HEAD")

    @classmethod
    def head_of(cls, folder: Path) -> str:
        """Return the commit that a repository's folder stands on."""
        here = cls.__new__(cls)
        here.folder = folder
        return here.git("rev-parse", "HEAD")
