"""Texts from outside, made safe to store and to show."""

import pytest
from hypothesis import given, strategies as st

from capture_consumer.consumer.safetext import safe_text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain\ntext\t𝄞", "plain\ntext\t𝄞"),
        ("a\0b", "a\\x00b"),
        ("lone \ud800", "lone \\ud800"),
        (b"broken \xff utf-8", "broken \\xff utf-8"),
        ("postgresql://me:secret@host/db", "postgresql://***@host/db"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer ***"),
        ("token ghp_abcdefghijklmnop", "token ***"),
    ],
)
def test_what_cannot_be_stored_is_escaped_and_secrets_are_masked(text, safe):
    """JOB-165, COM-9, Q-58."""
    assert safe_text(text) == safe


def test_a_long_text_is_cut_with_a_mark():
    """COM-9."""
    cut = safe_text("x" * 3_000)

    assert len(cut) == 2_000
    assert cut.endswith("(cut)")


@given(st.text(alphabet=st.characters()))
def test_every_text_can_be_encoded_and_holds_no_nul(text):
    """JOB-165."""
    safe = safe_text(text)

    assert "\0" not in safe
    assert safe.encode("utf-8").decode("utf-8") == safe
