"""Every setting there is: its name, how it is read, its default, what it does.

`docs/settings.md` has a line for each; a test compares the two.
"""

from dataclasses import dataclass

from capture_consumer.settings.readers import (
    Read,
    one_of,
    read_database,
    read_folder,
    read_names,
    read_slug,
    read_store,
    read_text,
    whole,
)

__all__ = ["PREFIX", "SETTINGS", "Setting"]

PREFIX = "CAPTURE_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its field in `Settings`, its name outside, and what it does."""

    field: str
    name: str
    read: Read
    default: str
    does: str

    @property
    def variable(self) -> str:
        """Return its environment variable."""
        return PREFIX + self.name

    @property
    def key(self) -> str:
        """Return its key in `capture.toml`."""
        return self.name.lower()


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "database_url",
        "DATABASE_URL",
        read_database,
        "`.capture/capture.sqlite` at the git root",
        "The database that all processes share: `postgresql://…` or `sqlite:///path`.",
    ),
    Setting(
        "store_url",
        "STORE",
        read_store,
        "`.capture/store` at the git root",
        "The folder where pictures and submitted files are kept, by their hash.",
    ),
    Setting(
        "state_dir",
        "STATE_DIR",
        read_folder,
        "`/run/capture-consumer` and the like",
        "A local folder for the supervisor's lock, health file and crash records.",
    ),
    Setting(
        "project",
        "PROJECT",
        read_slug,
        "the name of the repository or its folder",
        "The project that commands mean when none is named.",
    ),
    Setting(
        "consumers",
        "CONSUMERS",
        whole(1, 256),
        "by CPUs and memory",
        "How many consumers `start` runs; each does one job at a time.",
    ),
    Setting(
        "grace_s",
        "GRACE",
        whole(0, 86_400),
        "30",
        "Seconds that the orchestrator gives a stop, from SIGTERM to SIGKILL.",
    ),
    Setting(
        "browser",
        "BROWSER",
        read_text,
        "the first one found",
        "The Chromium to use: a path or a command.",
    ),
    Setting(
        "log_format",
        "LOG_FORMAT",
        one_of("auto", "console", "json"),
        "auto",
        "`console`, `json`, or `auto`: console on a terminal, else JSON lines.",
    ),
    Setting(
        "log_level",
        "LOG_LEVEL",
        one_of("debug", "info", "warning", "error"),
        "info",
        "The least severe event that is logged: `debug`, `info`, `warning` or `error`.",
    ),
    Setting(
        "lease_ms",
        "LEASE_MS",
        whole(1_000, 3_600_000),
        "60000",
        "How long a job stays claimed without a touch, in milliseconds.",
    ),
    Setting(
        "touch_every_ms",
        "TOUCH_EVERY_MS",
        whole(100, 600_000),
        "15000",
        "At most one touch of a lease is written in this time, in milliseconds.",
    ),
    Setting(
        "check_ms",
        "CHECK_MS",
        whole(100, 600_000),
        "5000",
        "How often a holder looks whether its job was cancelled or lost, in milliseconds.",
    ),
    Setting(
        "poll_idle_ms",
        "POLL_IDLE_MS",
        whole(50, 600_000),
        "15000",
        "The pace of polling when no job was seen for a minute, in milliseconds.",
    ),
    Setting(
        "poll_active_ms",
        "POLL_ACTIVE_MS",
        whole(50, 600_000),
        "2000",
        "The pace of polling while jobs come in, in milliseconds.",
    ),
    Setting(
        "max_attempts",
        "MAX_ATTEMPTS",
        whole(1, 100),
        "3",
        "How often a job may fail by an error of its own before it is given up.",
    ),
    Setting(
        "handlers",
        "HANDLERS",
        read_names,
        "none",
        "More kinds of jobs: `package.module:NAME` of a mapping; several with commas.",
    ),
)
