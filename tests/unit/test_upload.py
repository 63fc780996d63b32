"""A folder is checked whole before anything is written."""

import hashlib
import os

import pytest

from capture_consumer.client.upload import BYTES_MOST, Sent, check, digest, send
from capture_consumer.errors import BadInput


def fill(folder, *paths):
    """Make files, each with its own path as content; return the folder."""
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path)
    return folder


def sha_of(data):
    """Stand for a store that keeps nothing."""
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("mark", ["index.json", "stories.json", "iframe.html"])
def test_a_folder_with_an_index_is_a_storybook(tmp_path, mark):
    """BUILD-22."""
    found = check(fill(tmp_path, mark, "assets/a.png", "assets/a.js"))

    assert found.kind == "storybook"
    assert found.paths == tuple(sorted([mark, "assets/a.png", "assets/a.js"]))


def test_a_folder_with_pictures_is_images_and_leaves_the_rest_out(tmp_path):
    """BUILD-6."""
    found = check(fill(tmp_path, "home.png", "deep/Cart.PNG", "notes.txt"))

    assert (found.kind, found.paths, found.skipped) == (
        "images",
        ("deep/Cart.PNG", "home.png"),
        1,
    )


@pytest.mark.parametrize(
    ("paths", "kind", "word"),
    [
        ((), "auto", "empty"),
        (("notes.txt",), "auto", "neither"),
        (("notes.txt",), "storybook", "index.json"),
        (("index.json",), "images", "PNG"),
        ((".git/index.json",), "auto", "empty"),
    ],
)
def test_a_folder_with_nothing_to_capture_is_refused_in_one_line(tmp_path, paths, kind, word):
    with pytest.raises(BadInput, match=word) as refused:
        check(fill(tmp_path, *paths), kind=kind)

    assert "\n" not in str(refused.value)


def test_a_folder_that_is_not_there_or_is_a_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match="does not exist"):
        check(tmp_path / "no")
    with pytest.raises(BadInput, match="is a file"):
        check(fill(tmp_path, "file") / "file")


def test_a_link_that_leads_out_is_refused(tmp_path):
    """BUILD-106."""
    outside = fill(tmp_path / "outside", "secret")
    folder = fill(tmp_path / "folder", "index.json")
    (folder / "leak").symlink_to(outside / "secret")

    with pytest.raises(BadInput, match="link"):
        check(folder)


def test_a_link_to_a_folder_is_refused_so_nothing_is_left_out_silently(tmp_path):
    folder = fill(tmp_path / "folder", "index.json", "a/x.js")
    (folder / "b").symlink_to(folder / "a")

    with pytest.raises(BadInput, match="link"):
        check(folder)


def test_a_link_to_a_file_inside_is_a_file(tmp_path):
    folder = fill(tmp_path, "index.json")
    (folder / "copy.json").symlink_to(folder / "index.json")

    assert "copy.json" in check(folder).paths


def test_a_pipe_is_no_file(tmp_path):
    fill(tmp_path, "index.json")
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(BadInput, match="no ordinary file"):
        check(tmp_path)


def test_a_name_that_is_not_utf_8_is_refused(tmp_path):
    fill(tmp_path, "index.json")
    (tmp_path / os.fsdecode(b"caf\xe9.js")).write_text("x")

    with pytest.raises(BadInput, match="UTF-8"):
        check(tmp_path)


def test_a_folder_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    """BUILD-106."""
    fill(tmp_path, "index.json")
    for name in range(BYTES_MOST // 2**29 + 1):
        with (tmp_path / f"{name}.bin").open("wb") as file:
            file.truncate(2**29)

    with pytest.raises(BadInput, match="larger than"):
        check(tmp_path)


def test_each_file_is_stored_and_told_as_soon_as_it_is_safe(tmp_path):
    """BUILD-25."""
    found = check(fill(tmp_path, "index.json", "a.js", "b.js"))
    told: list[Sent] = []

    sent = send(found, sha_of, sent=told.append)

    assert told == sent
    assert [(one.path, one.sha) for one in sent] == [
        (path, sha_of(path.encode())) for path in ("a.js", "b.js", "index.json")
    ]


def test_a_file_that_went_away_stops_the_upload_with_its_name(tmp_path):
    found = check(fill(tmp_path, "index.json", "a.js"))
    (tmp_path / "a.js").unlink()

    with pytest.raises(BadInput, match=r"a\.js"):
        send(found, sha_of, sent=lambda _file: None)


def test_one_hash_stands_for_a_folder_whatever_the_order(tmp_path):
    files = [Sent("a", "1" * 64, 1), Sent("b", "2" * 64, 1)]

    assert digest(files) == digest(files[::-1])
    assert digest(files) != digest([Sent("b", "1" * 64, 1), Sent("a", "2" * 64, 1)])
