"""The black box: what a killed child leaves readable."""

import os
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from capture_consumer.ipc.identity import identify, is_alive
from capture_consumer.ipc.slot import BOX_BYTES, Box, Label, Words


@pytest.fixture
def box(tmp_path):
    """Return a fresh box."""
    box = Box(tmp_path / "0.box", fresh=True)
    yield box
    box.close()


def test_a_box_that_nobody_wrote_says_nothing(box):
    assert (box.read_label(), box.read(), box.read_tree()) == (None, None, [])


def test_the_newest_words_are_read_by_another_map_of_the_same_file(box, tmp_path):
    """SUP-23."""
    for seq in (1, 2, 3):
        box.write(Words(seq, "story", job="plan:1", attempt=2, story=f"story-{seq}"))
    other = Box(tmp_path / "0.box")

    assert other.read() == Words(3, "story", job="plan:1", attempt=2, story="story-3")
    other.close()


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=1407))
def test_words_torn_anywhere_leave_those_before_them(tmp_path_factory, byte):
    """SUP-23: killed in the middle of a write."""
    box = Box(tmp_path_factory.mktemp("box") / "0.box", fresh=True)
    box.write(Words(1, "claimed", job="plan:1", attempt=1))
    box.write(Words(2, "story", job="plan:1", attempt=1, story="before"))
    half_before = bytes(box.map[512:1920])
    half_of_next = bytes(box.map[1920:3328])
    box.write(Words(3, "story", job="plan:1", attempt=1, story="after"))
    written = bytes(box.map[1920:3328])
    box.map[1920:3328] = written[:byte] + half_of_next[byte:]

    told = box.read()

    assert bytes(box.map[512:1920]) == half_before
    assert told is not None
    assert told.story in ("before", "after")
    assert told.job == "plan:1"
    box.close()


def test_a_name_that_does_not_fit_is_left_out_and_said_so(box):
    """SUP-23: a name that was cut would blame nobody, or another."""
    box.write(Words(1, "story", job="plan:1", story="s" * 2000))

    told = box.read()

    assert (told.story, told.cut, told.job) == (None, True, "plan:1")


def test_label_and_tree_are_kept_beside_the_words(box):
    """SUP-6, SUP-33."""
    label = Label(3, "consumer", "abc", 77, 123, "boot", "pid:[4]")

    box.label(label)
    box.write_tree([(n, n * 10) for n in range(50)])
    box.write(Words(1, "idle", owner="me"))

    assert box.read_label() == label
    assert box.read_tree()[0] == (0, 0)
    assert len(box.read_tree()) == 30
    assert len(box.map) == BOX_BYTES


def test_a_process_is_told_from_a_later_one_with_its_number():
    """SUP-8."""
    us = identify(os.getpid())

    assert is_alive(us)
    assert not is_alive(replace(us, start=us.start + 1))
    assert not is_alive(replace(us, boot="another"))
    assert not is_alive(replace(us, namespace="another"))
