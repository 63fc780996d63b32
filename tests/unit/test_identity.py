"""What makes a story, a mode and a snapshot the same through history."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from capture_consumer.builds.identity import (
    DEFAULT_MODE,
    canonical_mode,
    check_commit,
    check_slug,
    check_story_id,
    mode_from,
    mode_name,
    modes_of,
    split_ref,
    story_of_path,
)
from capture_consumer.errors import BadInput, PermanentError


def test_equal_texts_in_two_forms_are_one_story_id():
    """BUILD-4."""
    assert check_story_id("cafe\u0301") == check_story_id("caf\u00e9")


@pytest.mark.parametrize("text", ["", "x" * 513, "é" * 257, "a\x00b", "a\nb", "\ud800"])
def test_a_story_id_that_cannot_be_stored_is_refused(text):
    """BUILD-4, C-27."""
    with pytest.raises(BadInput):
        check_story_id(text)


@pytest.mark.parametrize("text", ["кнопка--основная", "button--😀", "a\u202eb", "x" * 512])
def test_a_story_id_may_be_written_in_any_script(text):
    """BUILD-4, C-27."""
    assert check_story_id(text) == text


@given(st.text(max_size=40))
def test_a_story_id_is_composed_and_checking_it_again_changes_nothing(text):
    """BUILD-4."""
    try:
        found = check_story_id(text)
    except BadInput:
        return

    assert found == check_story_id(found) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("path", "story"),
    [
        ("card/wide.png", "card/wide"),
        ("card\\wide.PNG", "card/wide"),
        ("v1.2/card.huge.png", "v1.2/card.huge"),
        (".png", ".png"),
    ],
)
def test_a_screenshot_is_named_by_its_path_without_extension(path, story):
    """BUILD-6."""
    assert story_of_path(path) == story


def test_a_mode_is_its_value_and_not_its_name_or_the_order_it_was_written_in():
    """BUILD-5."""
    one = canonical_mode(
        {"width": 375.0, "height": 667, "scale": 2.0, "globals": {"b": 1, "a": 2}}
    )
    other = canonical_mode(
        {"globals": {"a": 2, "b": 1}, "scale": 2, "height": 667, "width": 375}
    )

    assert one == other
    assert one == '{"globals":{"a":2,"b":1},"height":667,"scale":2,"width":375}'
    assert mode_from("phone", one).canonical == one


@pytest.mark.parametrize(
    "settings",
    [
        {"width": 375.5},
        {"width": 0},
        {"width": True},
        {"width": "375"},
        {"width": 16_385},
        {"scale": 0},
        {"scale": "2"},
        {"scale": 5},
        {"wdith": 375},
    ],
)
def test_a_mode_that_makes_no_sense_is_refused(settings):
    """BUILD-5."""
    with pytest.raises(BadInput):
        canonical_mode(settings)


def test_without_configured_modes_there_is_one_of_1280_by_720():
    assert modes_of({}) == (DEFAULT_MODE,)
    assert DEFAULT_MODE.canonical == '{"height":720,"scale":1,"width":1280}'


def test_two_modes_of_one_value_are_an_error_that_names_both():
    """BUILD-5."""
    with pytest.raises(PermanentError, match="'desktop' and 'wide'") as caught:
        modes_of({"wide": {"width": 1280}, "desktop": {"height": 720}})

    assert caught.value.code == "duplicate_mode"


def test_a_renamed_mode_keeps_its_value():
    """BUILD-5."""
    (before,) = modes_of({"phone": {"width": 375}})
    (after,) = modes_of({"small": {"width": 375}})

    assert before.canonical == after.canonical
    assert mode_name({"small": {"width": 375}}, before.canonical) == "small"


@pytest.mark.parametrize(
    ("canonical", "name"),
    [
        (DEFAULT_MODE.canonical, "default"),
        ("{}", ""),
        ('{"height":667,"scale":2,"width":375}', "375x667@2"),
    ],
)
def test_a_mode_that_nobody_names_is_shown_by_its_size(canonical, name):
    assert mode_name({"bad": {"width": -1}}, canonical) == name


@pytest.mark.parametrize("text", ["abcdef12", "A" * 40, "g" * 40, "a" * 41, ""])
def test_only_full_commit_hashes_are_taken(text):
    """BUILD-7."""
    with pytest.raises(BadInput):
        check_commit(text)


def test_full_commit_hashes_are_taken_as_they_are():
    """BUILD-7."""
    assert [check_commit("a" * 40), check_commit("0" * 64)] == ["a" * 40, "0" * 64]


@pytest.mark.parametrize("text", ["", "-shop", "Shop", "a" * 64, "my shop", "a/b"])
def test_a_slug_that_is_none_is_refused(text):
    """BUILD-1."""
    with pytest.raises(BadInput):
        check_slug(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [("12", (None, 12)), ("#12", (None, 12)), ("shop/12", ("shop", 12))],
)
def test_a_build_is_named_by_its_number_and_maybe_its_project(text, found):
    """BUILD-1, R23."""
    assert split_ref(text) == found


@pytest.mark.parametrize("text", ["", "shop", "shop/", "a/b/12", "12x", "-1"])
def test_what_names_no_build_is_refused(text):
    with pytest.raises(BadInput):
        split_ref(text)


def test_a_mode_of_the_settings_that_makes_no_sense_is_named():
    """BUILD-5."""
    with pytest.raises(PermanentError, match="Mode 'phone'") as caught:
        modes_of({"phone": {"width": 0}})

    assert caught.value.code == "bad_mode"


def test_a_slug_is_taken_as_it_is():
    """BUILD-1."""
    assert check_slug("my-shop-2") == "my-shop-2"
