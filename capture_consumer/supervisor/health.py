"""`capture-consumer health [--ready]`: read `health.json`, say one line, exit 0 or 1.

Runs before any other import of ours, and imports five modules (SUP-91). Live asks only
whether the file is younger than 20 s and of this boot: no database, no job (SUP-90).
"""

import json
import os
import signal
import sys
import time

__all__ = ["judge", "main", "newest", "places"]

LIVE_S = 20.0
CLERK_S = 30.0
ALARM_S = 1


HELP = """\
Usage: capture-consumer health [OPTIONS]

  Tell in one line whether the supervisor of this machine lives, or is ready.

  It opens no database and answers within a second.

  Example:    capture-consumer health --ready
  Exit codes: 0 yes, 1 no, 2 wrong usage.

Options:
  --ready     Ask for readiness, not only for life.
  -h, --help  Show this message and exit.
"""
USAGE = 2


def main(argv: list[str], environ: dict[str, str]) -> int:
    """Say whether the supervisor of this machine is live or, with `--ready`, ready.

    A word that is no option of ours is refused: a probe with a slip must not look healthy.
    """
    if any(word in ("-h", "--help") for word in argv):
        sys.stdout.write(HELP)
        return 0
    for word in argv:
        if word != "--ready":
            sys.stderr.write(
                f"error: No such option {word!r}: health takes --ready, or none.\n"
            )
            return USAGE
    signal.alarm(ALARM_S)
    told = newest(places(environ))
    now_s = time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
    good, line = judge(told, ready="--ready" in argv, now_s=now_s, boot=boot_id())
    sys.stdout.write(line + "\n")
    return 0 if good else 1


def places(environ: dict[str, str]) -> list[str]:
    """Return where supervisors keep their folders (SUP-5)."""
    if named := environ.get("CAPTURE_STATE_DIR"):
        return [named]
    found = ["/run/capture-consumer"]
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        found.append(f"{runtime}/capture-consumer")
    return [*found, f"{environ.get('TMPDIR') or '/tmp'}/capture-consumer-{os.getuid()}"]  # noqa: S108 - where we write


def newest(bases: list[str]) -> dict[str, object] | None:
    """Return the youngest file below these folders, None when there is none."""
    told: list[dict[str, object]] = []
    for base in bases:
        try:
            names = sorted(os.listdir(base))  # noqa: PTH208 - pathlib is a sixth module
        except OSError:
            continue
        for name in names:
            try:
                with open(f"{base}/{name}/health.json", encoding="utf-8") as file:  # noqa: PTH123 - the same
                    told.append(json.load(file))
            except (OSError, ValueError):
                continue
    return max(told, key=lambda one: float(str(one.get("at_s", 0))), default=None)


def boot_id() -> str:
    """Return what tells this boot from others; empty where unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123 - the same
            return file.read().strip()
    except OSError:
        return ""


def judge(
    told: dict[str, object] | None, *, ready: bool, now_s: float, boot: str
) -> tuple[bool, str]:
    """Return whether all is well, and the line that says so."""
    if told is None:
        return False, "not live: no supervisor has written its health here"
    age_s = now_s - float(str(told.get("at_s", 0)))
    if told.get("state") == "gone":
        return False, "not live: the supervisor has left"
    if told.get("boot") != boot or age_s > LIVE_S:
        return False, f"not live: the loop has not come round for {age_s:.0f} s"
    fault = unready(told) if ready else None
    if fault:
        return False, f"live, not ready: {fault}"
    return True, "ready" if ready else "live"


def unready(told: dict[str, object]) -> str | None:
    """Return why no work is taken now, None when it is."""
    slots = told.get("slots")
    clerk_s = told.get("clerk_age_s")
    if told.get("state") not in ("running", "starting"):
        return str(told.get("state"))
    if not isinstance(slots, list) or all(slot.get("phase") == "boot" for slot in slots):
        return "no consumer is up"
    if clerk_s is not None and float(str(clerk_s)) > CLERK_S:
        return f"the clerk was not heard for {clerk_s} s"
    return None
