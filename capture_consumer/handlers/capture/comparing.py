"""Hold two stored pictures against each other, and keep what came of it."""

from dataclasses import fields

from capture_consumer.builds.effects import Compared
from capture_consumer.builds.facts import ImageFact, ProjectFact
from capture_consumer.errors import PermanentError
from capture_consumer.handlers.capture.content import Content
from capture_consumer.images.compare import Rule, compare
from capture_consumer.images.decode import Picture, decode
from capture_consumer.images.mask import draw

__all__ = ["compare_with", "rule_of"]


def rule_of(project: ProjectFact) -> Rule:
    """Return the project's rule of comparing.

    Raises:
        PermanentError: `bad_compare`, a dial is unknown or out of range.
    """
    unknown = set(project.compare) - {dial.name for dial in fields(Rule)}
    if unknown:
        raise PermanentError("bad_compare", f"Comparing has no dial {min(unknown)!r}.")
    try:
        return Rule(**project.compare)
    except (TypeError, ValueError) as error:
        raise PermanentError("bad_compare", f"Comparing cannot be set so: {error}.") from error


def compare_with(
    content: Content, rule: Rule, before: ImageFact, *, pixel_sha: str, after: Picture
) -> Compared:
    """Compare a picture with a stored one; store the difference, note the row, return it."""
    earlier = decode(content.store.get(before.blob_sha))
    found = compare(earlier, after, rule)
    diff_sha = None
    if found.verdict == "changed":
        diff_sha = content.put(draw(earlier, after, found), "diff")
    compared = Compared(
        from_pixel_sha=before.pixel_sha,
        to_pixel_sha=pixel_sha,
        params_sha=rule.sha,
        verdict=found.verdict,
        changed_px=found.changed_px,
        ratio=found.ratio,
        densest_block=found.densest_block,
        box=found.box,
        bands=tuple(dict(band) for band in found.bands),
        diff_sha=diff_sha,
    )
    content.note(compared)
    return compared
