"""`health.json`: what the loop says of itself every 2 s, replaced whole (SUP-89)."""

import json
import time
from pathlib import Path
from typing import Any

from capture_consumer.ipc.identity import boot_id
from capture_consumer.supervisor.crew import Crew

__all__ = ["EVERY_S", "HealthFile"]

EVERY_S = 2.0


def boot_s() -> float:
    """Return seconds since boot, suspend included."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class HealthFile:
    """The file that probes read; written by the loop, so a stuck loop shows."""

    def __init__(self, path: Path, crew: Crew) -> None:
        self.path = path
        self.new = path.with_suffix(".new")
        self.crew = crew
        self.boot = boot_id()
        self.next_at = 0.0
        self.shown: tuple[str, list[int]] = ("", [])

    def look(self, now: float, *, state: str, drain_left_s: float | None) -> None:
        """Write it when its time has come, or when a probe would be answered otherwise."""
        up = [child.pid for child in self.crew.consumers if child.said.ready_at is not None]
        before, self.shown = self.shown, (state, up)
        if now >= self.next_at or before != self.shown:
            self.next_at = now + EVERY_S
            self.write(now, state=state, drain_left_s=drain_left_s)

    def write(self, now: float, *, state: str, drain_left_s: float | None) -> None:
        """Write it now."""
        crew = self.crew
        told = {
            "at_s": round(boot_s(), 3),
            "boot": self.boot,
            "state": state,
            "incarnation": crew.incarnation,
            "ever_ready": crew.ever_ready,
            "clerk_age_s": round(now - crew.heard_clerk_at, 1)
            if crew.plan.clerk_argv
            else None,
            "slots": [slot_of(child, now) for child in crew.consumers],
            "deaths": crew.deaths,
            "last_error": crew.says.last_error,
            "drain_left_s": drain_left_s,
        }
        self.new.write_text(json.dumps(told), encoding="utf-8")
        self.new.replace(self.path)


def slot_of(child: Any, now: float) -> dict[str, Any]:
    """Return what is said of one consumer."""
    claim = child.said.claim
    return {
        "slot": child.slot,
        "pid": child.pid,
        "phase": child.phase,
        "job": claim.job if claim else None,
        "story": child.said.story.story if child.said.story else None,
        "age_s": round(now - child.said.started_at, 1),
        "jobs_done": child.said.jobs_done,
        "rss": child.said.rss,
    }
