"""A build in words."""

import pytest

from capture_consumer.builds.words import headline, markdown, safe
from tests.plain import a_build


def finished(verdict: str, branch: str = "main", **counts: int):
    return a_build(phase="finished", verdict=verdict, counts=counts, branch=branch)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (finished("passed", total=800, unchanged=800), "No changes in 800 snapshots"),
        (finished("passed", total=1, unchanged=1), "No changes in 1 snapshot"),
        (
            finished("needs_review", changed=7, new=2, removed=1, pending=10),
            "7 changed, 2 new, 1 removed need review",
        ),
        (finished("needs_review", changed=1, pending=1), "1 changed needs review"),
        (finished("accepted", changed=10, accepted=10), "10 changes accepted"),
        (finished("rejected", changed=2, rejected=2), "2 changes rejected"),
        (finished("broken", errored=3, unstable=2), "3 stories failed to render"),
        (finished("broken", errored=1), "1 story failed to render"),
        (finished("broken", unstable=2), "2 stories do not hold still"),
        (finished("broken"), "Nothing was compared"),
        (finished("incomplete", lost=12, total=800), "12 of 800 not captured"),
        (finished("skipped"), "Skipped"),
        (a_build(phase="receiving"), "Receiving files"),
        (a_build(phase="pending"), "Waiting for a consumer"),
        (a_build(phase="capturing"), "Capturing"),
        (a_build(phase="reducing"), "Comparing"),
        (
            a_build(phase="failed", error_text="index.json is not JSON"),
            "index.json is not JSON",
        ),
        (a_build(phase="cancelled", error_text="Cancelled by ana"), "Cancelled by ana"),
        (a_build(phase="cancelled"), "Cancelled"),
        (a_build(phase="expired"), "Upload was never finished"),
        (a_build(phase="superseded"), "Superseded"),
    ],
)
def test_each_state_has_its_text(build, text):
    """BUILD-116."""
    assert headline(build) == text


def test_what_is_known_beside_the_row_is_said():
    """BUILD-116."""
    accepted = finished("accepted", accepted=10)
    lost = finished("incomplete", lost=12, total=800)

    assert headline(accepted, people=("ana", "ben")) == "10 changes accepted by ana, ben"
    assert headline(accepted, source="auto_branch") == "10 changes accepted on main"
    assert headline(accepted, source="first_build") == "First build: 10 snapshots accepted"
    assert headline(accepted, source="carried") == "10 changes carried from an accepted build"
    assert headline(lost, lost_because="SIGKILL in card--huge").endswith(
        ": SIGKILL in card--huge"
    )
    assert headline(a_build(phase="superseded"), superseded_by=124) == "Superseded by build 124"
    assert headline(a_build(phase="capturing"), progress=(240, 800)) == "Capturing 240/800"


def test_names_are_cut_and_cannot_turn_the_text_around():
    """BUILD-120, C-27."""
    assert safe("a\u202eb\x00c\nd") == "ab" + "c d"
    assert safe("x" * 100) == "x" * 79 + "…"
    assert safe("👩\u200d👩\u200d👧 日本語") == "👩\u200d👩\u200d👧 日本語"


def test_a_mention_a_link_and_a_table_are_only_letters():
    """BUILD-120, C-27."""
    told = markdown("[x](http://e.vil) | @everyone <img onerror=x>")

    assert not set("@|<>[]()") & set(told)
