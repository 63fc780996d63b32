"""One story on one page to one `Shot`: shown, held still, taken, looked at again.

Any error of the story wins over whatever else it says (CAP-14); a picture is
kept only if the preview named this story before it and after it (BUILD-48).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from capture_consumer.builds.identity import Mode
from capture_consumer.capture.limits import Limits
from capture_consumer.capture.page import StoryPage
from capture_consumer.capture.stillness import Still, shoot_until_still

__all__ = ["Shot", "errored", "expose"]

Result = Literal["still", "moving", "errored"]
Known = Callable[[bytes], bool] | None
TEXT_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Shot:
    """What came of one try at a story.

    `png` is None when it `errored`; then `code` and `message` say why. `steps_ms` says how
    long each step took; `warnings` what a person should know beside the picture.
    """

    png: bytes | None
    result: Result
    code: str | None = None
    message: str | None = None
    warnings: tuple[str, ...] = ()
    log: str = ""
    steps_ms: Mapping[str, int] = field(default_factory=dict)
    empty: bool = False


def errored(code: str, message: str, *, log: str = "", steps_ms: Any = None) -> Shot:
    """Return the shot of a story that failed."""
    return Shot(None, "errored", code, message[:TEXT_MAX], log=log, steps_ms=steps_ms or {})


def expose(page: StoryPage, story_id: str, mode: Mode, limits: Limits, known: Known) -> Shot:
    """Show the story and take it; PageLost passes through."""
    report = page.show(story_id, mode)
    steps = {name: round(ms) for name, ms in report["steps"].items()}
    fault = _fault(report, story_id) or _too_large(report, mode, limits)
    if fault is not None:
        return _failed(page, fault, steps)
    begun = time.monotonic()
    still, after = _take(page, report, known)
    steps["shot"] = round((time.monotonic() - begun) * 1000)
    fault = _fault(after, story_id) or _switched(report, after)
    if fault is not None:
        return _failed(page, fault, steps)
    return Shot(
        still.png,
        "still" if still.at_rest else "moving",
        warnings=_notes(page, report),
        log=page.witness.log,
        steps_ms=steps,
        empty=bool(report["empty"]),
    )


def _take(
    page: StoryPage, report: Mapping[str, Any], known: Known
) -> tuple[Still, Mapping[str, Any]]:
    """Take it, once more when its height has changed meanwhile (CAP-19)."""
    still, after = _take_once(page, report, known)
    if after["height"] != report["height"]:
        again = after
        still, after = _take_once(page, again, known)
        if after["height"] != again["height"]:
            still = replace(still, at_rest=False)
    return still, after


def _take_once(
    page: StoryPage, before: Mapping[str, Any], known: Known
) -> tuple[Still, Mapping[str, Any]]:
    still = shoot_until_still(
        lambda: page.shoot(int(before["height"])),
        page.wait,
        restless=bool(before["restless"]),
        known=known,
    )
    return still, page.state()


def _fault(state: Mapping[str, Any], story_id: str) -> tuple[str, str] | None:
    """Return code and text of what the story did wrong, if anything."""
    if state["errors"]:
        first = state["errors"][0]
        return str(first["code"]), str(first["text"])
    over = state.get("over")
    if over:
        cap = over["cap"] / 1000
        return f"{over['step']}_timeout", f"The step {over['step']} took more than {cap:g} s."
    showing = state["showing"]
    if showing is not None and showing != story_id:
        return "other_story", f"The preview shows {str(showing)[:200]} in place of this story."
    return None


def _switched(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str] | None:
    if before["generation"] == after["generation"] and before["id"] == after["id"]:
        return None
    return "other_story", "The page began another story while the picture was taken."


def _too_large(report: Mapping[str, Any], mode: Mode, limits: Limits) -> tuple[str, str] | None:
    width, height = round(mode.width * mode.scale), round(int(report["height"]) * mode.scale)
    if width * height <= limits.pixels_max and max(width, height) <= limits.side_max:
        return None
    allowed = f"{limits.side_max:,} px a side and {limits.pixels_max / 1e6:g} Mpx"
    return "too_large", f"The page is {width:,} x {height:,} px; at most {allowed} are taken."


def _failed(page: StoryPage, fault: tuple[str, str], steps: Mapping[str, int]) -> Shot:
    page.stale = True
    return errored(*fault, log=page.witness.log, steps_ms=steps)


def _notes(page: StoryPage, report: Mapping[str, Any]) -> tuple[str, ...]:
    fonts = page.witness.fonts_missed()
    missed = [f"{len(fonts)} font{'s' * (len(fonts) > 1)} not loaded: {', '.join(fonts)}"]
    return (*report["notes"], *(missed if fonts else ()))
