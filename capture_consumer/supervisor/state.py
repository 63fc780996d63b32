"""The supervisor's folder: where it is, who holds it, what lies in it (SUP-5 to SUP-9).

`supervisor.lock` decides who runs, by flock; `supervisor.json` only says so. Beside them
lie `health.json`, `spool.jsonl`, for each slot a box and a trace, and `tmp/` with one
temporary directory for what is in hand. The SQLite file and the images lie elsewhere.
"""

import errno
import fcntl
import json
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from capture_consumer.ipc.channel import slot_name

__all__ = ["Held", "State", "StateUnusable", "remove_tree", "state_dir", "without_password"]

NETWORK_FILE_SYSTEMS = frozenset(
    {"afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3"}
)
PASSWORD = re.compile(r"^([^:/]+://[^:/@]*):[^@]*@")


class StateUnusable(Exception):
    """There is no folder that we can use; the text says why and what to set."""


class Held(Exception):
    """Another supervisor holds this folder; the text names it (exit 75)."""


def without_password(url: str) -> str:
    """Return a database URL without its password."""
    return PASSWORD.sub(r"\1@", url)


def state_dir(environ: Mapping[str, str], database_url: str) -> Path:
    """Return the folder of the supervisor of this database; make it (SUP-5).

    Raises:
        StateUnusable: no place can be written, or it is on a network file system.
    """
    import hashlib  # noqa: PLC0415 - 4 MiB that the supervisor itself never needs

    name = hashlib.sha256(without_password(database_url).encode()).hexdigest()[:16]
    faults = []
    for base in places(environ):
        folder = base / name
        try:
            for part in (base, folder):
                part.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            faults.append(f"{base}: {error.strerror}")
            continue
        if not os.access(folder, os.W_OK | os.X_OK):
            faults.append(f"{base}: not ours to write")
            continue
        if (kind := file_system_of(folder)) in NETWORK_FILE_SYSTEMS:
            raise StateUnusable(
                f"{folder} is on {kind}: set CAPTURE_STATE_DIR to a local folder"
            )
        return folder
    raise StateUnusable(f"no folder for the state: {'; '.join(faults)}: set CAPTURE_STATE_DIR")


def places(environ: Mapping[str, str]) -> list[Path]:
    """Return where the folder may be, best first; a place that was named is the only one."""
    if named := environ.get("CAPTURE_STATE_DIR"):
        return [Path(named).absolute()]
    found = [Path("/run/capture-consumer")]
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        found.append(Path(runtime) / "capture-consumer")
    temporary = environ.get("TMPDIR") or tempfile.gettempdir()
    return [*found, Path(temporary) / f"capture-consumer-{os.getuid()}"]


def file_system_of(folder: Path) -> str:
    """Return the kind of file system that a folder lies on; empty where unknown."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    path, kind, longest = folder.resolve(), "", -1
    for line in mounts:
        fields, _, rest = line.partition(" - ")
        point = Path(fields.split()[4].encode().decode("unicode_escape"))
        if path.is_relative_to(point) and len(point.parts) >= longest:
            kind, longest = rest.split()[0], len(point.parts)
    return kind


class State:
    """The files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.slots = folder / "slots"
        self.tmp = folder / "tmp"
        self.lock_fd = -1

    def lock(self) -> None:
        """Become the one supervisor of this folder, or raise `Held`.

        No child inherits the descriptor, so an orphan keeps nobody out (SUP-6).
        """
        for part in (self.folder, self.slots, self.tmp):
            part.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        fd = os.open(self.folder / "supervisor.lock", flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            holder = self.read().get("pid", "unknown")
            raise Held(f"supervisor {holder} holds {self.folder}") from error
        self.lock_fd = fd

    def unlock(self) -> None:
        """Let go of the folder."""
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1

    def read(self) -> dict[str, Any]:
        """Return what the newest supervisor said of itself; empty when none did."""
        try:
            told = json.loads((self.folder / "supervisor.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}

    def write(self, told: Mapping[str, Any]) -> None:
        """Say who we are, whole or not at all."""
        new = self.folder / "supervisor.json.new"
        new.write_text(json.dumps(told), encoding="utf-8")
        new.replace(self.folder / "supervisor.json")

    def box(self, slot: int) -> Path:
        """Return the path of a slot's black box."""
        return self.slots / f"{slot_name(slot)}.box"

    def trace(self, slot: int) -> Path:
        """Return the path of the trace of the process that is in a slot now."""
        return self.slots / f"{slot_name(slot)}.trace"

    def keep_trace(self, slot: int, number: int) -> str | None:
        """Keep a dead child's trace under the number of its death.

        Returns:
            The file's name below the folder; None when the trace is empty.
        """
        trace = self.trace(slot)
        kept = Path("slots") / f"{slot_name(slot)}.{number}.trace"
        try:
            if not trace.stat().st_size:
                trace.unlink()
                return None
            trace.rename(self.folder / kept)
        except FileNotFoundError:
            return None
        return str(kept)

    def scratch(self, slot: int) -> Path:
        """Return the temporary directory of a slot's process (SUP-9).

        What it makes there for one attempt it removes itself; the rest goes with it.
        """
        return self.tmp / slot_name(slot)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it, as far as that is possible."""
    for path, folders, files in os.walk(folder, topdown=False):
        here = Path(path)
        for name in files:
            with suppress(OSError):
                (here / name).unlink()
        for name in folders:
            with suppress(OSError):
                (here / name).unlink() if (here / name).is_symlink() else (here / name).rmdir()
    with suppress(OSError):
        folder.rmdir()
