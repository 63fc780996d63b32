"""What the supervisor is to run: which commands, how many, what grace (SUP-1).

It travels as JSON in the environment, so that no secret stands in argv. The children's
environment is the supervisor's own, plus what the plan adds.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["PLAN", "Pace", "Plan"]

PLAN = "CAPTURE_PLAN"


@dataclass(frozen=True, slots=True)
class Pace:
    """How long is too long, in seconds. The defaults are the design's; tests are faster."""

    boot_s: float = 60.0
    beat_s: float = 30.0
    first_story_s: float = 60.0
    slack_s: float = 15.0
    rung_s: float = 3.0
    stopped_s: float = 600.0
    clerk_wait_s: float = 10.0
    old_term_s: float = 5.0
    quiet_s: float = 20.0  # a claim under way may wait for the database that long
    turn_gap_s: float = 10.0
    spare_starts: int = 10
    recycle_jobs: int = 200
    recycle_s: float = 6 * 3600.0


def child_argv(role: str) -> tuple[str, ...]:
    """Return the command of a child, with the interpreter's flags passed on (SUP-2)."""
    warnings = [f"-W{option}" for option in sys.warnoptions]
    implementation = [
        f"-X{name}" if value is True else f"-X{name}={value}"
        for name, value in sys._xoptions.items()  # noqa: SLF001 - documented under this name
    ]
    flags = [*warnings, *implementation]
    return (sys.executable, *flags, "-m", "capture_consumer", "child", role)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that the supervisor is told.

    `standalone` is False under a web server, which must not be harmed. `state_dir` is the
    folder of this database (`state.state_dir`). No clerk is for tests of the rest.
    """

    state_dir: str
    consumers: int = 1
    grace_s: float = 30.0
    consumer_argv: tuple[str, ...] = field(default_factory=lambda: child_argv("consumer"))
    clerk_argv: tuple[str, ...] | None = field(default_factory=lambda: child_argv("clerk"))
    environment: Mapping[str, str] = field(default_factory=dict)
    standalone: bool = True
    pace: Pace = field(default_factory=Pace)
    reasons: str = ""
    log_format: str = "auto"

    def __post_init__(self) -> None:
        assert self.consumers >= 0, "a number of consumers"
        assert self.grace_s >= 0, "seconds"

    def to_environment(self) -> str:
        """Return the plan as the text of the variable `CAPTURE_PLAN`."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Plan":
        """Return the plan that stands in the environment.

        Raises:
            ValueError: there is none, or it is not one of ours.
        """
        text = environ.get(PLAN)
        if not text:
            raise ValueError(f"{PLAN} is not set: run `capture-consumer start`")
        try:
            told: dict[str, Any] = json.loads(text)
            told["pace"] = Pace(**told.get("pace", {}))
            for name in ("consumer_argv", "clerk_argv"):
                told[name] = tuple(told[name]) if told.get(name) else None
            return cls(**told)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"{PLAN} is not a plan of this release: {error}") from error
