"""Words of a build's page: outcomes, reviews, and why a picture is compared with another."""

from typing import Final

from capture_consumer.builds.facts import BuildView, ComparisonFact, SnapshotView
from capture_consumer.builds.words import plural, safe
from capture_consumer.pages.render import count, share

__all__ = [
    "GROUPS",
    "REVIEWS",
    "figures",
    "held_against",
    "review_words",
    "warnings",
    "why_baseline",
    "why_this",
]

# Outcome, heading, what it means; in the order of the page.
GROUPS: Final = (
    ("changed", "Changed", "These look different from their baseline."),
    ("new", "New", "Nothing to compare with yet."),
    ("removed", "Removed", "The baseline has them, this build has not."),
    ("errored", "Errored", "The story itself failed, so there is no picture."),
    ("unstable", "Unstable", "No two pictures of these agree. All that were taken are shown."),
    ("lost", "Not captured", "We failed to take these pictures; the stories may be fine."),
    ("planned", "Still to capture", "The build has not come to these yet."),
    ("captured", "Captured, not compared yet", "Outcomes come when the build is finished."),
    ("carried", "Accepted before", "They differ, and just this was accepted before."),
    ("skipped", "Skipped", "The stories ask not to be captured."),
    ("unchanged", "Unchanged", "Equal to the baseline, or within tolerance."),
)
REVIEWS: Final = {
    "pending": "needs review",
    "accepted": "accepted",
    "rejected": "rejected",
    "none": "",
}
BANDS_TOLD: Final = 4
APPROXIMATE: Final = (
    "The baseline is a stand-in. To have the right one, fetch more history before submitting"
    " (git fetch --deepen 500; in CI: a full clone)."
)
ELSEWHERE: Final = (
    "The baseline's pictures were taken with another browser or other fonts; what changed may"
    " have changed for that alone."
)
SOURCES: Final = {
    "first_build": "accepted as first build",
    "carried": "accepted before",
    "auto_branch": "accepted by the branch",
    "policy": "accepted by policy",
}
WHY: Final = {
    "pinned": "it was named when this build was submitted",
    "latest": "it is the newest finished build",
    "ancestor": "it is the nearest finished build among this commit's ancestors",
    "merge_ambiguous": "both sides of a merge have a picture of their own; this one is newer",
    "approximate": "the history at hand is too short to find an ancestor, so the newest"
    " build of the base branch stands in for it",
    "nearer_unfinished": "a nearer build did not finish in time",
}
UNCOMPARED: Final = {
    "first_build": "This is the first build: there is nothing to compare with, and its"
    " pictures become the baseline.",
    "none": "No finished build was found among this commit's ancestors, so nothing was"
    " compared.",
}


def why_baseline(view: BuildView) -> str:
    """Answer "why this one?" in a sentence (BUILD-64)."""
    reason = view.baseline_reason or ""
    if view.baseline is None:
        none = "was" if view.build.finished_at else "has been"
        so_far = "" if view.build.finished_at else " yet"
        return UNCOMPARED.get(reason, f"Nothing {none} compared{so_far}.")
    named = f"build {view.baseline.number}"
    if view.baseline.commit_sha:
        named += f" (commit {view.baseline.commit_sha[:9]})"
    return f"Compared with {named}: {WHY.get(reason, safe(reason))}."


def elsewhere(view: BuildView) -> str:
    """Say that the baseline was taken in another environment, if it was (BUILD-50)."""
    theirs = view.baseline.environment if view.baseline else None
    ours = view.build.environment
    return ELSEWHERE if theirs and ours and theirs != ours else ""


def warnings(view: BuildView) -> tuple[str, ...]:
    """Return what should be known of the baseline before the differences are looked at."""
    stands_in = APPROXIMATE if view.baseline_reason == "approximate" else ""
    return tuple(one for one in (stands_in, elsewhere(view)) if one)


def held_against(one: SnapshotView) -> str:
    """Say what one picture was compared with, and why with that (BUILD-64)."""
    reason = one.baseline_reason or ""
    if one.fact.baseline is not None and one.baseline_build:
        return f"build {one.baseline_build}: {WHY.get(reason, safe(reason))}"
    if one.baseline_build:
        return f"nothing: build {one.baseline_build} has no picture of it"
    return {"first_build": "nothing: this is the first build"}.get(reason, "nothing")


def why_this(reason: str | None, whole: str | None) -> str:
    """Say why one picture has another baseline than the build, if it has."""
    if not reason or reason == whole or reason not in WHY:
        return ""
    return f"Compared with another build: {WHY[reason]}."


def review_words(review: str, source: str | None) -> str:
    """Return what people, or a rule in their place, decided."""
    if review == "accepted" and source in SOURCES:
        return SOURCES[source]
    return REVIEWS.get(review, "")


def figures(comparison: ComparisonFact) -> tuple[str, ...]:
    """Return how much changed, where, and which rows moved."""
    told = [f"{count(comparison.changed_px)} px", share(comparison.ratio)]
    if comparison.box:
        x, y, width, height = comparison.box
        told.append(f"within {width} \N{MULTIPLICATION SIGN} {height} at {x}, {y}")
    for band in comparison.bands[:BANDS_TOLD]:
        rows, kind = plural(int(band.get("rows", 0)), "row"), safe(str(band.get("kind", "")))
        told.append(f"{rows} {kind} at {int(band.get('at', 0))}")
    if len(comparison.bands) > BANDS_TOLD:
        told.append(f"and {plural(len(comparison.bands) - BANDS_TOLD, 'more band')}")
    return tuple(told)
