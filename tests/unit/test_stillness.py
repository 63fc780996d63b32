"""When a picture counts, and how often it is taken until then."""

import pytest

from capture_consumer.capture.stillness import shoot_until_still


def take(pictures, *, restless=False, known=None):
    """Return what came of taking these pictures, and the waits in between."""
    waits: list[int] = []
    still = shoot_until_still(
        iter(pictures).__next__, waits.append, restless=restless, known=known
    )
    return still, waits


@pytest.mark.parametrize(
    ("pictures", "at_rest", "shots"),
    [
        ([b"a", b"a"], True, 2),
        ([b"a", b"b", b"b"], True, 3),
        ([b"a", b"b", b"c", b"d", b"d"], True, 5),
        ([b"a", b"b", b"a", b"b", b"a"], False, 5),
    ],
)
def test_two_in_a_row_have_to_be_equal_within_five(pictures, at_rest, shots):
    """BUILD-45, CAP-17."""
    still, _ = take(pictures)

    assert (still.at_rest, still.shots) == (at_rest, shots)
    assert still.png == pictures[shots - 1]


def test_a_quiet_page_is_looked_at_again_at_once():
    """BUILD-45."""
    _, waits = take([b"a", b"a"])

    assert waits == []


def test_a_restless_page_is_given_a_tenth_of_a_second_each_time():
    """BUILD-45."""
    _, waits = take([b"a", b"b", b"b"], restless=True)

    assert waits == [100, 100]


def test_the_expected_picture_is_taken_once():
    """BUILD-45, CAP-21."""
    still, _ = take([b"a"], known=lambda png: png == b"a")

    assert (still.at_rest, still.shots) == (True, 1)


def test_another_picture_than_the_expected_is_taken_again():
    """BUILD-45."""
    still, _ = take([b"a", b"a"], known=lambda png: png == b"z")

    assert still.shots == 2
