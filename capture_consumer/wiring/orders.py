"""What a supervisor's orders mean for a consumer's loop: stop, rest, ask for the host.

Orders arrive on the control thread, which only sets what is read here and kills the
browser by pid (SUP-22). The loop reads it between jobs, the handler between stories.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from capture_consumer.ipc import messages
from capture_consumer.wiring.reports import Reports

__all__ = ["Orders"]

ANSWER_S = 3600.0
"""Longer than any job takes: the others are standing back for us, so going on without an
answer would let a suspect wait for as long as they have long jobs (L1)."""


def nothing() -> None:
    """Do nothing: there is no job and no browser yet."""


@dataclass
class Orders:
    """The state that orders have left us in.

    Args:
        reports: what is in hand, and the way to answer.
        let_go: makes the job in hand be released at its next safe place. Orders are heard
            before there is a job, so this and the next are set once there can be one.
        kill_browser: ends a story at once.
    """

    reports: Reports
    let_go: Callable[[], None] = nothing
    kill_browser: Callable[[], None] = nothing
    woken: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    draining: threading.Event = field(default_factory=threading.Event)
    """Beside stopping: a claim that is not begun is released. A recycle finishes it first."""
    paused: bool = False
    looks_for_suspects: bool = False
    _answered: threading.Event = field(default_factory=threading.Event)
    _granted: bool = False
    _owes_answer: bool = False

    def hear(self, order: messages.Order) -> None:
        """Take an order; called on the control thread."""
        match order:
            case messages.Drain(soft_deadline_s=seconds):
                self.drain(seconds)
            case messages.Hurry() | messages.ParentGone():
                self.draining.set()
                self.stopping.set()
                self.let_go()
                self.kill_browser()
            case messages.Recycle():
                self.stopping.set()
            case messages.Pause() | messages.Resume():
                self.paused = self._owes_answer = isinstance(order, messages.Pause)
            case messages.Suspects(on=on):
                self.looks_for_suspects = on
            case messages.Granted() | messages.Denied():
                self._granted = isinstance(order, messages.Granted)
                self._answered.set()
            case _:
                return
        self.woken.set()
        if self.stopping.is_set():
            self._answered.set()

    def drain(self, seconds: float) -> None:
        """Claim nothing more; finish what is in hand if it fits, else let it go (section 9)."""
        self.draining.set()
        self.stopping.set()
        if self.reports.remaining_s() > seconds:
            self.let_go()
            return
        late = threading.Timer(seconds, self.let_go)
        late.daemon = True
        late.start()

    def rests(self) -> bool:
        """Tell whether nothing may be claimed for now; each PAUSE is answered once (SUP-41)."""
        if self.paused and self._owes_answer:
            self._owes_answer = False
            self.reports.say_paused()
        return self.paused

    def has_the_host(self, job_id: str) -> bool:
        """Ask to be alone on the host for a suspect; wait for the answer (SUP-41)."""
        self._answered.clear()
        self._granted = False
        self.reports.ask_alone(job_id)
        self._answered.wait(ANSWER_S)
        return self._granted and not self.stopping.is_set()
