"""A child for tests: a consumer that does as its jobs say, or a clerk that writes deaths down.

Run by a supervisor's plan: `child.py consumer|clerk FOLDER`. Jobs are files in
FOLDER/jobs, claimed by renaming them into FOLDER/taken; what ended well is renamed into
FOLDER/done. A job is a list of steps; each step is a method of `Steps`.
"""

import ctypes
import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.channel import Channel

LONG = [sys.executable, "-I", "-S", "-c", "import threading; threading.Event().wait(600)"]


class Hurried(Exception):
    """The job is to be given back."""


class Ears:
    """What we were told, as events."""

    def __init__(self, channel):
        self.channel = channel
        self.drain = threading.Event()
        self.hurry = threading.Event()
        self.recycle = threading.Event()
        self.paused = threading.Event()
        self.granted = threading.Event()
        self.wake = threading.Event()
        self.looks_for_suspects = False
        self.deaf = False

    def hear(self, order):
        if self.deaf:
            return
        if isinstance(order, say.Drain | say.Hurry | say.ParentGone):
            self.drain.set()
        if isinstance(order, say.Hurry | say.ParentGone):
            self.hurry.set()
        if isinstance(order, say.Suspects):
            self.looks_for_suspects = order.on
        if isinstance(order, say.Resume):
            self.paused.clear()
        heard = {say.Recycle: self.recycle, say.Pause: self.paused, say.Granted: self.granted}
        if event := heard.get(type(order)):
            event.set()
        self.wake.set()


class Steps:
    """What a job can be told to do."""

    def __init__(self, channel, ears, folder):
        self.channel = channel
        self.ears = ears
        self.folder = folder

    def story(self, name, deadline_s=120.0):
        self.channel.story(1, name, 1, 2, deadline_s)

    def exit(self, code):
        os._exit(code)

    def signal(self, name):
        os.kill(os.getpid(), getattr(signal, name))

    def signal_group(self, name):
        os.killpg(0, getattr(signal, name))

    def hang(self):
        threading.Event().wait(600)

    def hold_the_interpreter(self):
        """Wait for ever in C, deaf to signals, without letting go of the interpreter."""
        lock = ctypes.create_string_buffer(256)
        for _ in range(2):
            ctypes.PyDLL(None).pthread_mutex_lock(lock)

    def ignore_everything(self):
        self.ears.deaf = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (self.folder / "deaf").touch()
        threading.Event().wait(600)

    def until(self, name):
        while not (self.folder / name).exists():
            if self.ears.hurry.wait(0.01):
                raise Hurried

    def orphan(self):
        """Leave a grandchild whose parent is gone, in a session of its own."""
        code = f"import subprocess; subprocess.Popen({LONG!r}, start_new_session=True)"
        subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)

    def browser(self):
        """Start what hides in a session of its own, as a browser does, and stop it."""
        process = subprocess.Popen(LONG, start_new_session=True)
        self.channel.note_browser([process.pid])
        os.kill(process.pid, signal.SIGSTOP)
        process.returncode = 0

    def leak_the_pipe(self):
        """Leave a grandchild that holds the report pipe open."""
        fd = os.dup(self.channel.report_fd)
        process = subprocess.Popen(LONG, pass_fds=(fd,), start_new_session=True)
        process.returncode = 0

    def touch(self, name):
        (self.folder / name).touch()

    def time_itself_out(self):
        faulthandler.dump_traceback_later(0.1, exit=True, file=self.channel.trace)
        threading.Event().wait(600)

    def garbage(self):
        os.write(self.channel.report_fd, b"\xff" * 64)
        threading.Event().wait(600)

    def fill_the_pipe(self):
        for index in range(3000):
            self.channel.story(index, f"story-{index}", index, 3000)

    def scratch(self):
        self.channel.scratch.mkdir()
        (self.channel.scratch / "profile").write_text("x")

    def bye_and_exit(self, reason, code):
        self.channel.bye(reason)
        os._exit(code)


def claim(folder, owner, *, suspects):
    for path in sorted((folder / "jobs").iterdir()):
        if path.name.startswith("suspect") is not suspects:
            continue
        taken = folder / "taken" / path.name
        try:
            path.rename(taken)
        except FileNotFoundError:
            continue
        return taken
    return None


def perform(path, channel, ears, folder):
    job = json.loads(path.read_text())
    channel.claim(path.name, 1, kind="test", step=job.get("step"), build_id=7, shard_id=3)
    (folder / "claimed" / path.name).write_text(str(os.getpid()))
    try:
        for name, *arguments in job["do"]:
            getattr(Steps(channel, ears, folder), name)(*arguments)
    except Hurried:
        path.rename(folder / "jobs" / path.name)
        channel.released(path.name, 1)
        return
    path.rename(folder / "done" / path.name)
    channel.settled(path.name, 1, "done")


def consume(channel, ears, folder, owner):
    said_paused = False
    while not (ears.drain.is_set() or ears.recycle.is_set()):
        if ears.paused.is_set():
            if not said_paused:
                channel.paused()
                said_paused = True
            ears.wake.wait(0.02)
            ears.wake.clear()
            continue
        said_paused = False
        waiting = any(p.name.startswith("suspect") for p in (folder / "jobs").iterdir())
        if waiting and ears.looks_for_suspects:
            channel.alone("suspect")
            if ears.granted.wait(5):
                ears.granted.clear()
                if path := claim(folder, owner, suspects=True):
                    perform(path, channel, ears, folder)
            continue
        if path := claim(folder, owner, suspects=False):
            perform(path, channel, ears, folder)
            continue
        ears.wake.wait(0.02)
        ears.wake.clear()


def keep_books(channel, ears, folder):
    def hear(order):
        if isinstance(order, say.Death):
            write(folder / "deaths.jsonl", {"n": order.n, **order.facts})
        if isinstance(order, say.Old):
            write(folder / "old.jsonl", order.incarnations)
        if isinstance(order, say.Death | say.Old) and not (folder / "no-acks").exists():
            channel.ack(order.n if isinstance(order, say.Death) else 0)
        ears.hear(order)

    return hear


def write(path, told):
    with path.open("a") as file:
        file.write(json.dumps(told) + "\n")


def boot(behaviour, ears):
    """Come up as the test wants: later, or not at all."""
    text = behaviour.read_text() if behaviour.exists() else "wait"
    if text != "wait":
        os._exit(int(text))
    while behaviour.exists():
        ears.wake.wait(0.01)
        ears.wake.clear()


def main(role, folder):
    channel = Channel.from_environment(os.environ)
    assert channel, "started by a supervisor"
    owner = f"{channel.incarnation}-{channel.slot}-{os.getpid()}"
    channel.hello(owner)
    ears = Ears(channel)
    channel.listen(keep_books(channel, ears, folder) if role == "clerk" else ears.hear)
    boot(folder / f"boot-{role}", ears)
    channel.ready()
    if role == "clerk":
        while not (ears.hurry.is_set() or ears.recycle.is_set()):
            ears.wake.wait()
            ears.wake.clear()
    else:
        consume(channel, ears, folder, owner)
    channel.bye("left")


main(sys.argv[1], Path(sys.argv[2]))
