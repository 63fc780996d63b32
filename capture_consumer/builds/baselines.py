"""Which image each snapshot is held against, and why (builds.md, section 6).

`choose` finds the builds, `held` makes one map of their manifests. Reduce calls
both; the plan calls them before it for a preview that nothing else relies on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from capture_consumer.builds.ancestry import Graph, above, heads, walk
from capture_consumer.builds.facts import BuildFact, BuiltFact, HistoryFact
from capture_consumer.errors import PermanentError

__all__ = ["Baseline", "Held", "Reason", "choose", "held"]

Reason = Literal["pinned", "latest", "ancestor", "approximate", "first_build", "none"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The builds to compare with, newest first; several only for a merge (BUILD-54).

    `common` is the newest build that stands above all of them.
    """

    builds: tuple[BuiltFact, ...]
    reason: Reason
    common: BuiltFact | None = None

    @property
    def build(self) -> BuiltFact | None:
        """Return the one to name to people, or None."""
        return self.builds[0] if self.builds else None

    @property
    def first(self) -> bool:
        """Tell whether this is the first build of all: its pictures are accepted (R2)."""
        return self.reason == "first_build"


@dataclass(frozen=True, slots=True)
class Held:
    """What the baseline has for one key.

    Being equal to any of `image_ids` is being unchanged; else the first is compared with.
    """

    image_ids: tuple[int, ...]
    build_id: int
    reason: str


def choose(build: BuildFact, history: HistoryFact) -> Baseline:
    """Return what to compare a build with (BUILD-51 to BUILD-56).

    Raises:
        PermanentError: `bad_base`, the pinned base has no finished build.
    """
    if build.pinned_base is not None:
        if history.pinned is None:
            raise PermanentError(
                "bad_base", f"The pinned base {build.pinned_base} has no finished build."
            )
        return Baseline((history.pinned,), "pinned")
    if build.project.baseline_mode == "latest" or build.commit_sha is None:
        return _one(history.latest, "latest") or Baseline((), "first_build")
    return _by_ancestry(build, build.commit_sha, history)


def _by_ancestry(build: BuildFact, commit: str, history: HistoryFact) -> Baseline:
    def built(sha: str) -> BuiltFact | None:
        return next((one for one in history.built.get(sha, ()) if _serves(one, build)), None)

    found = walk(history.parents, commit, lambda sha: built(sha) is not None)
    if found.taken:
        builds = _built_on(found.taken, built)
        common = _common(history.parents, found.taken, built) if len(builds) > 1 else None
        return Baseline(builds, "ancestor", common)
    if found.horizon and history.on_base is not None:
        return Baseline((history.on_base,), "approximate")
    return Baseline((), "first_build" if history.latest is None else "none")


def _one(build: BuiltFact | None, reason: Reason) -> Baseline | None:
    return None if build is None else Baseline((build,), reason)


def _serves(built: BuiltFact, build: BuildFact) -> bool:
    """Tell whether a finished build may be this one's ancestor (BUILD-65)."""
    ours = built.trusted or (built.pull is not None and built.pull == build.pull)
    return built.build_id != build.id and ours


def _built_on(
    commits: Iterable[str], built: Callable[[str], BuiltFact | None]
) -> tuple[BuiltFact, ...]:
    found = {one.build_id: one for one in map(built, commits) if one is not None}
    return tuple(sorted(found.values(), key=_age, reverse=True))


def _common(
    graph: Graph, taken: Sequence[str], built: Callable[[str], BuiltFact | None]
) -> BuiltFact | None:
    """Return the newest build above all taken ones: the base of a three-way merge."""
    ancestries = [above(graph, graph.get(commit) or ()) for commit in taken]
    shared = [
        commit
        for commit in ancestries[0]
        if all(commit in others for others in ancestries[1:]) and built(commit)
    ]
    return next(iter(_built_on(heads(graph, shared), built)), None)


def _age(built: BuiltFact) -> tuple[float, int]:
    return (built.finished_at.timestamp(), built.number)


def held(baseline: Baseline, manifests: Mapping[int, Mapping[int, int]]) -> dict[int, Held]:
    """Return what the baseline has, by key id; a key that it has not is absent.

    Args:
        baseline: the choice.
        manifests: the map of each of its builds, the common one too, by build id.
    """
    if len(baseline.builds) == 1:
        only = baseline.builds[0].build_id
        images = manifests[only].items()
        return {key: Held((image,), only, baseline.reason) for key, image in images}
    keys = {key for one in baseline.builds for key in manifests[one.build_id]}
    merged = ((key, _merged(baseline, manifests, key)) for key in sorted(keys))
    return {key: found for key, found in merged if found is not None}


def _merged(
    baseline: Baseline, manifests: Mapping[int, Mapping[int, int]], key: int
) -> Held | None:
    """Return what a merge has for one key (BUILD-54)."""
    sides = {one.build_id: manifests[one.build_id].get(key) for one in baseline.builds}
    if baseline.common is not None and len(set(sides.values())) > 1:
        before = manifests[baseline.common.build_id].get(key)
        sides = {build: image for build, image in sides.items() if image != before}
    images = dict.fromkeys(image for image in sides.values() if image is not None)
    if not images:
        return None
    first = next(build for build, image in sides.items() if image is not None)
    reason = baseline.reason if len(images) == 1 else "merge_ambiguous"
    return Held(tuple(images), first, reason)
