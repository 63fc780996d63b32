"""The table of allowed moves."""

from itertools import product

import pytest

from capture_consumer.builds.phases import ENDS, MOVES, OPEN, allowed, hooks_of, sources_of

# From where (left) a build may come to where (right), as builds.md has it.
TABLE = """
-          receiving finished
receiving  pending expired cancelled superseded
pending    planning failed cancelled superseded
planning   capturing reducing failed cancelled superseded
capturing  reducing cancelled superseded
reducing   finished failed cancelled superseded
finished   finished
failed     failed
cancelled  cancelled
superseded superseded
expired    expired
"""


def told_by_the_table() -> set[tuple[str | None, str]]:
    rows = [line.split() for line in TABLE.strip().splitlines()]
    return {(None if frm == "-" else frm, to) for frm, *ends in rows for to in ends}


def test_of_all_pairs_of_phases_only_those_of_the_table_are_moves():
    """BUILD-14."""
    phases = (*OPEN, *ENDS)

    found = {(frm, to) for frm, to in product((None, *phases), phases) if allowed(frm, to)}

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
