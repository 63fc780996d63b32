"""What a child said last; what of it is overdue; what the spool keeps."""

import json

import pytest

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.slot import Words
from capture_consumer.supervisor.booking import Booking
from capture_consumer.supervisor.hung import Ladder, overdue
from capture_consumer.supervisor.plan import Pace
from capture_consumer.supervisor.recycle import Age, Recycler
from capture_consumer.supervisor.spool import Spool
from capture_consumer.supervisor.words import LastWords

PACE = Pace()


def after(*reports, now=0.0):
    """Return the last words after these, all heard now."""
    said = LastWords(started_at=0.0)
    for report in reports:
        said.hear(report, now)
    return said


READY = (say.Hello(1, "me"), say.Ready())
CLAIM = say.Claim("plan:1", 2, "capture", "plan", 1, None, seq=3)
STORY = say.Story(5, "card--huge", 1, 2, 20.0, seq=4)


def test_a_story_is_in_hand_from_its_report_to_the_next():
    """SUP-23."""
    assert after(*READY, CLAIM, STORY).story == STORY
    assert after(*READY, CLAIM, STORY, say.Story(None, None, seq=5)).story is None
    assert after(*READY, CLAIM, STORY, say.Settled("plan:1", 2, seq=5)).holding is False


def test_an_end_of_another_attempt_lets_go_of_nothing():
    """SUP-17."""
    assert after(*READY, CLAIM, say.Settled("plan:1", 1, seq=4)).holding


def test_the_box_wins_where_it_is_newer():
    """SUP-17, SUP-23."""
    said = after(*READY, CLAIM, STORY)

    told = said.read_box(Words(5, "story", job="plan:1", attempt=2, story="card--next"))

    assert (said.story.story, said.claim.attempt) == ("card--next", 2)
    assert told == "the box is newer"


def test_a_box_that_let_go_wins_too():
    """SUP-23: settled, and killed before the pipe knew."""
    said = after(*READY, CLAIM, STORY)

    said.read_box(Words(5, "idle"))

    assert not said.holding


def test_an_older_box_changes_nothing():
    said = after(*READY, CLAIM, STORY)

    assert said.read_box(Words(3, "claimed", job="plan:1", attempt=2)) is None
    assert said.story == STORY


def test_a_box_that_says_otherwise_at_the_same_number_is_worth_a_line():
    """SUP-17."""
    said = after(*READY, CLAIM, STORY)

    assert "box" in said.read_box(Words(4, "story", job="plan:1", attempt=2, story="other"))


def test_a_name_too_long_for_the_box_is_taken_from_the_pipe():
    """SUP-23."""
    said = after(*READY, CLAIM, STORY)

    said.read_box(Words(4, "story", job="plan:1", attempt=2, cut=True))

    assert said.story == STORY


@pytest.mark.parametrize(
    ("said", "at", "late"),
    [
        (after(), 75.0, None),
        (after(), 75.1, "boot"),
        (after(*READY), 30.0, None),
        (after(*READY), 30.1, "beat"),
        (after(*READY, CLAIM), 60.1, "progress"),
        (after(*READY, CLAIM, STORY), 35.0, None),
        (after(*READY, CLAIM, STORY), 35.1, "story"),
    ],
)
def test_a_child_is_late_after_its_deadline(said, at, late):
    """SUP-68."""
    said.beat_at = at if late not in ("beat", "boot") and at > 30 else said.beat_at

    assert overdue(said, PACE, at) == late


def test_a_beat_is_progress_only_when_its_number_grew():
    """SUP-68."""
    said = after(*READY, CLAIM, say.Beat(1, progress=4))

    said.hear(say.Beat(2, progress=4), 50.0)
    assert said.progress_at == 0.0

    said.hear(say.Beat(3, progress=5), 55.0)
    assert said.progress_at == 55.0


def test_the_ladder_has_three_rungs_and_time_between_them():
    """SUP-70."""
    ladder = Ladder()

    climbed = [ladder.climb(PACE, at) for at in (0.0, 2.9, 3.0, 5.9, 6.0, 99.0)]

    assert climbed == ["dump", None, "abort", None, "kill", None]


@pytest.fixture
def spool(tmp_path):
    """Return a new spool."""
    spool = Spool(tmp_path / "spool.jsonl")
    yield spool
    spool.close()


def again(spool):
    """Return what another life would read."""
    other = Spool(spool.path)
    other.close()
    return other.open_deaths


def test_a_death_stays_in_the_spool_until_it_is_acknowledged(spool):
    """SUP-31."""
    assert [spool.add({"job": name}) for name in "abc"] == [1, 2, 3]

    spool.acknowledged(2)
    assert again(spool) == {1: {"job": "a"}, 3: {"job": "c"}}

    spool.acknowledged(1)
    spool.acknowledged(3)
    assert spool.path.stat().st_size == 0
    assert spool.add({"job": "d"}) == 4


def test_a_torn_last_line_costs_only_itself(spool):
    """SUP-31."""
    spool.add({"job": "a"})
    with spool.path.open("a") as file:
        file.write('{"n":2,"fac')

    assert again(spool) == {1: {"job": "a"}}
    spool.add({"job": "b"})
    assert again(spool) == {1: {"job": "a"}, 2: {"job": "b"}}
    assert json.loads(spool.path.read_text().splitlines()[-1])["n"] == 2


def test_the_clerk_is_told_a_few_at_a_time_and_old_after_what_was_there(spool, tmp_path):
    """SUP-31, SUP-33."""
    for number in range(10):
        spool.add({"job": str(number)})
    booking = Booking(spool, tmp_path)
    booking.end_old(("before",))

    first = booking.orders()
    told = [order.n for order in first if isinstance(order, say.Death)]
    for number in told:
        booking.acknowledged(number)
    spool.add({"job": "later"})
    second = booking.orders()

    assert told == [1, 2, 3, 4, 5, 6, 7, 8]
    assert second == [
        say.Death(9, {"job": "8"}),
        say.Death(10, {"job": "9"}),
        say.Death(11, {"job": "later"}),
        say.Old(("before",)),
    ]
    assert not booking.is_clear


def test_a_new_clerk_is_told_all_that_is_open_again(spool, tmp_path):
    """SUP-31."""
    spool.add({"job": "a"})
    booking = Booking(spool, tmp_path)
    booking.end_old(())
    assert len(booking.orders()) == 2
    assert booking.orders() == []

    booking.new_clerk()

    assert booking.orders() == [say.Death(1, {"job": "a"}), say.Old(())]
    booking.acknowledged(1)
    booking.acknowledged(0)
    assert booking.is_clear


def test_a_trace_is_kept_until_its_death_is_booked(spool, tmp_path):
    """SUP-31, R18."""
    (tmp_path / "0.1.trace").write_text("stacks")
    spool.add({"job": "a", "trace": "0.1.trace"})
    booking = Booking(spool, tmp_path)

    booking.acknowledged(1)

    assert not (tmp_path / "0.1.trace").exists()


def test_one_child_at_a_time_is_renewed():
    """SUP-51, SUP-52."""
    recycler = Recycler(jobs=200, life_s=100, draw=lambda: 0.5)
    recycler.ask([0, 1])

    ages = {0: Age(10, ready=True), 1: Age(11, ready=True)}
    assert recycler.look(ages) == 0
    assert recycler.look(ages) is None
    assert recycler.look({1: ages[1]}) is None
    assert recycler.look({**ages, 0: Age(12, ready=False)}) is None
    assert recycler.look({**ages, 0: Age(12, ready=True)}) == 1


@pytest.mark.parametrize("age", [Age(10, True, 0, 200), Age(10, True, 100, 0)])  # noqa: FBT003
def test_one_that_has_done_its_share_is_renewed(age):
    """SUP-51."""
    recycler = Recycler(jobs=200, life_s=100, draw=lambda: 0.5)

    assert recycler.look({0: age}) == 0
