"""Frames and messages: whole ones come out, torn ones wait, broken ones are refused."""

import json

import pytest
from hypothesis import given, strategies as st

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.frames import (
    FRAME_BYTES_MAX,
    Frame,
    FrameBroken,
    Frames,
    FrameTooLong,
    encode,
)
from capture_consumer.ipc.wire import order_of, pack, report_of

BODIES = st.dictionaries(
    st.text(max_size=8), st.none() | st.integers() | st.text(max_size=40), max_size=6
)
KINDS = st.integers(min_value=1, max_value=255)


@given(st.lists(st.tuples(KINDS, BODIES), max_size=8), st.data())
def test_frames_come_out_whole_however_the_pipe_cuts_them(sent, data):
    """SUP-21."""
    stream = b"".join(encode(kind, body) for kind, body in sent)
    frames = Frames()
    heard: list[Frame] = []
    while stream:
        cut = data.draw(st.integers(min_value=1, max_value=len(stream)))
        heard += frames.feed(stream[:cut])
        stream = stream[cut:]

    assert [(frame.kind, frame.body) for frame in heard] == sent
    assert frames.torn == 0


@given(KINDS, BODIES, st.data())
def test_a_torn_last_frame_is_kept_and_harms_none_before_it(kind, body, data):
    """SUP-21, SUP-17."""
    whole = encode(kind, body)
    cut = data.draw(st.integers(min_value=1, max_value=len(whole) - 1))
    frames = Frames()

    heard = list(frames.feed(whole + whole[:cut]))

    assert [frame.body for frame in heard] == [body]
    assert frames.torn == cut


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_frames_or_torn_or_broken_and_nothing_else(noise):
    """SUP-21."""
    frames = Frames()
    try:
        heard = list(frames.feed(noise))
    except FrameBroken:
        return

    assert all(isinstance(frame.body, dict) for frame in heard)
    assert frames.torn <= len(noise)


@pytest.mark.parametrize("length", [0, 1, 2, FRAME_BYTES_MAX - 3, 2**31])
def test_a_length_that_no_frame_has_is_broken(length):
    """SUP-21."""
    with pytest.raises(FrameBroken):
        list(Frames().feed(length.to_bytes(4, "big") + b"\x01\x01{}"))


def test_a_frame_is_never_longer_than_a_pipe_takes_at_once():
    """SUP-21."""
    with pytest.raises(FrameTooLong):
        encode(1, {"text": "x" * FRAME_BYTES_MAX})


def test_a_body_that_is_no_object_is_broken():
    text = b"[1]"
    frame = (len(text) + 2).to_bytes(4, "big") + b"\x01\x01" + text

    with pytest.raises(FrameBroken):
        list(Frames().feed(frame))


MESSAGES: list[say.Report | say.Order] = [
    say.Hello(7, "me", {"capture_consumer": "1"}),
    say.Ready(),
    say.Claim("shard:1:2", 3, "capture", "shard", 1, 2, suspect=True, seq=9),
    say.Story(5, "card--huge", 1, 2, 30.0, 10),
    say.Beat(1, 2, 3, 4, (5, 6)),
    say.Settled("plan:1", 1, "done", 4),
    say.Released("plan:1", 1, 5),
    say.Alone("plan:1"),
    say.Paused(),
    say.Ack(3),
    say.Bye("lost"),
    say.Drain(21.0),
    say.Hurry(),
    say.Pause(),
    say.Resume(),
    say.Suspects(on=False),
    say.Granted(),
    say.Denied(),
    say.Recycle(),
    say.Dump(),
    say.Old(("a", "b")),
    say.Death(4, {"job": "plan:1", "text": "é"}),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: type(one).__name__)
def test_a_message_comes_out_as_it_went_in(message):
    """SUP-21."""
    (frame,) = Frames().feed(pack(message))
    both = [report_of(frame), order_of(frame)]

    assert [one for one in both if one is not None] == [message]


def test_the_number_of_a_word_never_changes():
    """SUP-21: supervisor and child may be one release apart."""
    kinds = {type(one).__name__: next(Frames().feed(pack(one))).kind for one in MESSAGES}

    assert list(kinds.values()) == [1, 2, 3, 4, 5, 6, 7, 8, 11, 9, 10, *range(101, 112)]


def test_words_and_fields_of_a_newer_release_are_ignored():
    """SUP-21."""
    assert report_of(Frame(250, 2, {"x": 1})) is None
    assert report_of(Frame(9, 2, {"n": 4, "new": True})) == say.Ack(4)


def test_a_word_without_its_field_is_broken():
    """SUP-21."""
    with pytest.raises(FrameBroken):
        report_of(Frame(9, 1, {}))


def test_a_death_that_is_too_long_loses_text_and_no_name():
    """SUP-31."""
    facts = {"job": "j" * 900, "story": "s" * 1200, "text": "t" * 4000}

    (frame,) = Frames().feed(pack(say.Death(1, facts)))

    told = frame.body["facts"]
    assert (told["job"], told["story"]) == (facts["job"], facts["story"])
    assert told["text"].endswith("…")
    assert len(json.dumps(told)) <= FRAME_BYTES_MAX
