"""What can be set, read once from the environment and `capture.toml` into a frozen `Settings`.

The environment (`CAPTURE_…`) wins over `capture.toml` at the git root. All faults are
told at once, relations between settings too, and an unknown name is a fault: a typing
error must not become a silent default.

- `table`: every setting there is
- `readers`: from a text to a value
"""

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capture_consumer.errors import BadInput, SettingsInvalid
from capture_consumer.settings.readers import without_password
from capture_consumer.settings.table import PREFIX, SETTINGS, Setting

__all__ = ["Settings", "find_root", "load", "make_home", "without_password"]

FILE = "capture.toml"
HOME = ".capture"
Told = tuple[str, str, Path]
"""A name as it was given, its text, and the folder that a relative path in it starts at."""
INTERNAL = re.compile(r"CAPTURE_(CHANNEL|PLAN|TEST_\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that was set or left at its default; nobody looks into the environment again.

    `root` is the git root, else the working directory. Addresses are absolute and may
    hold a password: show them through `without_password`.
    """

    root: Path
    database_url: str = field(repr=False)
    store_url: str = field(repr=False)
    state_dir: Path | None = None
    project: str | None = None
    consumers: int | None = None
    grace_s: int = 30
    browser: str | None = None
    log_format: str = "auto"
    log_level: str = "info"
    lease_ms: int = 60_000
    touch_every_ms: int = 15_000
    check_ms: int = 5_000
    poll_idle_ms: int = 15_000
    poll_active_ms: int = 2_000
    max_attempts: int = 3
    handlers: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        """Return where the SQLite file and the store lie unless told otherwise (R25)."""
        return self.root / HOME


def load(environ: Mapping[str, str], *, cwd: Path) -> Settings:
    """Return the settings in force for a command that was called in `cwd`.

    Raises:
        SettingsInvalid: with all faults, one line each, each naming its variable or key.
    """
    root = find_root(cwd)
    faults: list[str] = []
    values: dict[str, Any] = {}
    for key, text in _in_file(root / FILE, faults):
        _read((f"{key} in {FILE}", text, root), _by(key, "key"), values, faults)
    for variable, text in sorted(environ.items()):
        if variable.startswith(PREFIX) and not INTERNAL.fullmatch(variable):
            _read((variable, text, cwd), _by(variable, "variable"), values, faults)
    values.setdefault("database_url", f"sqlite:///{root / HOME / 'capture.sqlite'}")
    values.setdefault("store_url", str(root / HOME / "store"))
    settings = Settings(root=root, **values)
    faults += _relations(settings)
    if faults:
        raise SettingsInvalid(tuple(faults))
    return settings


def find_root(cwd: Path) -> Path:
    """Return the folder that holds `.git`, at or above `cwd`; else `cwd` itself."""
    here = cwd.resolve()
    return next((at for at in (here, *here.parents) if (at / ".git").exists()), here)


def make_home(settings: Settings) -> None:
    """Make `.capture/`, with a `.gitignore` of its own, if anything is to lie in it.

    Raises:
        BadInput: it cannot be made here.
    """
    inside = f"{settings.home}/"
    if inside not in settings.database_url and not settings.store_url.startswith(inside):
        return
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        ignore = settings.home / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{settings.home} cannot be made: {error.strerror}; go to a folder that you may"
            f" write, or set {PREFIX}DATABASE_URL and {PREFIX}STORE"
        ) from error


def _by(name: str, kind: str) -> Setting | str:
    """Return the setting of that variable or key, else the fault to tell."""
    names = {str(getattr(one, kind)): one for one in SETTINGS}
    if name in names:
        return names[name]
    near = difflib.get_close_matches(name, names, n=1)
    return f"is no setting: {f'did you mean {near[0]}?' if near else 'delete it'}"


def _read(
    told: Told, setting: Setting | str, values: dict[str, Any], faults: list[str]
) -> None:
    """Put one value among `values`, or what is wrong with it among `faults`."""
    name, text, start = told
    if isinstance(setting, str):
        faults.append(f"{name} {setting}")
    elif not text.strip():
        faults.append(f"{name}: give a value, or leave it out")
    else:
        try:
            values[setting.field] = setting.read(text.strip(), start)
        except ValueError as error:
            faults.append(f"{name}: {error}")


def _in_file(path: Path, faults: list[str]) -> list[tuple[str, str]]:
    """Return each key and its value as text; nothing when there is no such file."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        faults.append(f"{path}: {error}")
        return []
    told = []
    for key, value in found.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            told.append((key, str(value)))
        else:
            faults.append(f"{key} in {FILE}: give a text or a whole number")
    return told


def _relations(settings: Settings) -> list[str]:
    """Return what is wrong between settings that are each right alone."""
    faults = []
    if settings.touch_every_ms * 3 > settings.lease_ms:
        faults.append(
            f"CAPTURE_TOUCH_EVERY_MS ({settings.touch_every_ms}) times 3 is more than "
            f"CAPTURE_LEASE_MS ({settings.lease_ms}): a lease must outlive two missed touches"
        )
    if settings.check_ms >= settings.lease_ms:
        faults.append(
            f"CAPTURE_CHECK_MS ({settings.check_ms}) is not less than "
            f"CAPTURE_LEASE_MS ({settings.lease_ms}): a lost lease would be seen too late"
        )
    if settings.poll_active_ms > settings.poll_idle_ms:
        faults.append(
            f"CAPTURE_POLL_ACTIVE_MS ({settings.poll_active_ms}) is more than "
            f"CAPTURE_POLL_IDLE_MS ({settings.poll_idle_ms}): an active queue is polled faster"
        )
    return faults
