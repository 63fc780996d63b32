"""What a supervisor's orders mean for a consumer's loop."""

import threading

import pytest

from capture_consumer.ipc import messages
from capture_consumer.wiring.orders import Orders


class Answering:
    """Reports whose question is answered on another thread, as the control thread does."""

    orders: Orders

    def __init__(self, *answers):
        self.answers, self.asked, self.paused = answers, [], 0

    def ask_alone(self, job_id):
        self.asked.append(job_id)
        threading.Thread(target=self.answer).start()

    def answer(self):
        for answer in self.answers:
            self.orders.hear(answer)

    def say_paused(self):
        self.paused += 1

    def remaining_s(self):
        return 0.0


def orders_of(reports):
    """Return orders that kill and let go nothing."""
    orders = Orders(reports)
    reports.orders = orders
    return orders


@pytest.mark.parametrize(
    ("answers", "granted"),
    [
        ([messages.Granted()], True),
        ([messages.Denied()], False),
        ([messages.Suspects(on=False), messages.Granted()], True),
        ([messages.Recycle()], False),
        ([messages.Drain(soft_deadline_s=5.0)], False),
        ([messages.Hurry()], False),
        ([messages.ParentGone()], False),
    ],
)
def test_the_host_is_ours_when_it_was_granted_and_every_stop_is_an_answer(answers, granted):
    """SUP-41."""
    orders = orders_of(Answering(*answers))

    assert orders.has_the_host("suspect") is granted


def test_each_pause_is_answered_once_and_a_resume_ends_it():
    """SUP-41."""
    reports = Answering()
    orders = orders_of(reports)

    orders.hear(messages.Pause())
    rests = [orders.rests(), orders.rests()]
    orders.hear(messages.Resume())

    assert (rests, orders.rests(), reports.paused) == ([True, True], False, 1)
    orders.hear(messages.Pause())
    assert (orders.rests(), reports.paused) == (True, 2)
