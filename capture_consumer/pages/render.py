"""The one environment that makes HTML: everything is escaped, nothing undefined passes.

Names and messages come from the captured page, which is hostile: besides escaping, signs
that turn the direction of text around or cannot be seen are taken out (BUILD-113, C-27).
"""

import base64
import hashlib
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from capture_consumer.builds.words import safe

__all__ = ["count", "html", "lines", "moment", "share"]

LINE_MAX: Final = 500


def html(template: str, **context: Any) -> str:
    """Return a template's HTML."""
    return environment().get_template(template).render(**context)


@cache
def environment() -> Environment:
    """Return the environment, made at the first use."""
    made = Environment(
        loader=PackageLoader("capture_consumer.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(count=count, lines=lines, moment=moment, safe_text=safe, share=share)
    made.filters["script_hash"] = script_hash
    made.globals["static"] = static
    return made


def static(name: str) -> Markup:
    """Return one of our own style sheets or scripts, to be put into the page as it is."""
    own = files("capture_consumer.pages") / "static" / name
    return Markup(own.read_text(encoding="utf-8"))  # noqa: S704 - ours, and no one's input


def script_hash(script: str) -> str:
    """Return the name by which a Content-Security-Policy allows one inline script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def count(number: int) -> str:
    """Return a number with commas between its thousands, as a terminal shows it."""
    return f"{number:,}"


def share(ratio: float) -> str:
    """Return a share as percent, never rounded to nothing or to all."""
    percent = f"{ratio:.2%}"
    if ratio > 0 and percent == "0.00%":
        return "under 0.01%"
    return "99.99%" if ratio < 1 and percent == "100.00%" else percent


def moment(instant: datetime) -> str:
    """Return an instant for people, in UTC."""
    at = instant.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def lines(text: str, most: int = 40) -> tuple[str, ...]:
    """Return the first lines of a text, each cut and freed of signs nobody can see."""
    return tuple(safe(line, LINE_MAX) for line in text.splitlines()[:most])
