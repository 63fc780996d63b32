"""The one loop, with time and chance in the test's hand."""

from dataclasses import dataclass, field

import pytest

from capture_consumer.consumer.poll import Poll


@dataclass
class Run:
    """Runs a loop whose polls find these numbers of rows, then stops."""

    finds: list[object]
    waits: list[float] = field(default_factory=list)
    flushed: int = 0
    is_paused: bool = False
    now_s: float = 0.0

    def work(self) -> int:
        found = self.finds.pop(0)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, int)
        return found

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now_s += seconds
        self.is_paused = False

    def flush(self) -> None:
        self.flushed += 1

    def go(self) -> "Run":
        Poll(
            work=self.work,
            wait=self.wait,
            elapsed=lambda: self.now_s,
            draw=lambda: 0.0,
            stopping=lambda: not self.finds,
            paused=lambda: self.is_paused,
            flush=self.flush,
        ).run()
        return self


def test_it_polls_again_at_once_after_a_hit_and_flushes():
    """JOB-25, LIFE-13."""
    run = Run([1, 1, 0]).go()

    assert (run.waits, run.flushed) == ([], 2)


@pytest.mark.parametrize(("finds", "waits"), [([0, 0], [15.0]), ([1, 0, 0], [2.0])])
def test_it_waits_long_when_idle_and_briefly_after_work(finds, waits):
    """JOB-19, JOB-21."""
    assert Run(finds).go().waits == waits


def test_a_poll_that_raises_is_waited_after_longer_each_time_and_never_ends_the_loop():
    """JOB-26, L5."""
    errors = [ValueError("x") for _ in range(7)]

    run = Run([*errors, 1]).go()

    assert run.waits == [15.0] * 4 + [16.0, 32.0, 60.0]


def test_while_paused_nothing_is_claimed():
    """SUP-41."""
    run = Run([0], is_paused=True).go()

    assert run.waits == [15.0]
    assert run.finds == []
