"""The table of allowed moves."""

from itertools import product

import pytest

from capture_consumer.builds.phases import ENDS, MOVES, OPEN, allowed, hooks_of, sources_of

# A build's phase before (down) and after (across), as builds.md has it; T16 is on the diagonal.
TABLE = """
            receiving pending planning capturing reducing finished failed cancelled superseded expired
-           x         .       .        .         .        x        .      .         .          .
receiving   .         x       .        .         .        .        .      x         x          x
pending     .         .       x        .         .        .        x      x         x          .
planning    .         .       .        x         x        .        x      x         x          .
capturing   .         .       .        .         x        .        .      x         x          .
reducing    .         .       .        .         .        x        x      x         x          .
finished    .         .       .        .         .        x        .      .         .          .
failed      .         .       .        .         .        .        x      .         .          .
cancelled   .         .       .        .         .        .        .      x         .          .
superseded  .         .       .        .         .        .        .      .         x          .
expired     .         .       .        .         .        .        .      .         .          x
"""


def told_by_the_table():
    first, *rows = (line.split() for line in TABLE.strip().splitlines())
    return {
        (None if row[0] == "-" else row[0], to)
        for row in rows
        for to, mark in zip(first, row[1:], strict=True)
        if mark == "x"
    }


def test_of_all_pairs_of_phases_only_those_of_the_table_are_moves():
    """BUILD-14."""
    phases = (None, *OPEN, *ENDS)

    found = {(frm, to) for frm, to in product(phases, phases[1:]) if allowed(frm, to)}

    assert found == told_by_the_table()


def test_every_line_of_the_design_has_its_move():
    """BUILD-14."""
    assert {move.number for move in MOVES} == set(range(1, 17))


def test_no_move_goes_back_or_opens_an_ended_build():
    """BUILD-15."""
    rank = {phase: place for place, phase in enumerate((None, *OPEN))}
    rank |= dict.fromkeys(ENDS, len(OPEN) + 1)

    assert all(rank[move.frm] < rank[move.to] or move.frm == move.to for move in MOVES)
    assert all(move.to == move.frm for move in MOVES if move.frm in ENDS)


def test_a_build_fails_from_where_jobs_can_be_given_up_and_never_from_capturing():
    """BUILD-35, BUILD-43: in capturing shards fail, and what was captured is reduced."""
    assert sources_of("failed") == ("pending", "planning", "reducing")


@pytest.mark.parametrize(
    ("to", "hooks"),
    [
        ("pending", ("supersede_older",)),
        ("capturing", ()),
        ("reducing", ()),
        ("finished", ()),
        *((end, ("cancel_jobs",)) for end in ENDS if end != "finished"),
    ],
)
def test_a_move_is_followed_by_its_hooks(to, hooks):
    """BUILD-17, R37."""
    assert hooks_of(to) == hooks
