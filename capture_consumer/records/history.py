"""What a baseline can be chosen from: the commits above a build and what stands on them."""

import re

from capture_consumer.builds.facts import BuildFact, BuiltFact, HistoryFact
from capture_consumer.database.transaction import Tx
from capture_consumer.tables import build_views, commits

__all__ = ["of_build"]

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def of_build(tx: Tx, build: BuildFact) -> HistoryFact:
    """Return at most 5 000 commits above a build and the usable builds on them (BUILD-52)."""
    parents: dict[str, commits.Parents] = {}
    if build.commit_sha is not None:
        parents = commits.above(tx, build.project.id, build.commit_sha)
    base = build.base_branch or build.project.default_branch
    return HistoryFact(
        parents=parents,
        built=build_views.built_on(tx, build, parents),
        latest=build_views.newest_built(tx, build),
        on_base=build_views.newest_built(tx, build, branch=base),
        pinned=pinned(tx, build),
    )


def pinned(tx: Tx, build: BuildFact) -> BuiltFact | None:
    """Return the build that a person named: by number, by commit or by branch (BUILD-51)."""
    named = build.pinned_base
    if named is None:
        return None
    if COMMIT.fullmatch(named):
        return build_views.newest_built(tx, build, commit=named)
    number = named.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < len("2147483648"):
        return build_views.newest_built(tx, build, number=int(number))
    return build_views.newest_built(tx, build, branch=named)
