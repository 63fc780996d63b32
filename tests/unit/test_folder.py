"""A store in a folder: whole or not at all, checked when read, one line when it fails."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from threading import Barrier

import pytest

from capture_consumer.errors import BadInput, StoreUnusable
from capture_consumer.storage import open_store
from capture_consumer.storage.folder import FolderStore

DATA = b"a picture"
SHA = sha256(DATA).hexdigest()
OTHER = sha256(b"another").hexdigest()


@pytest.fixture
def store(tmp_path):
    return FolderStore(tmp_path / "deep" / "store")


def files(store):
    """Return all files of a store, by their path in it."""
    return sorted(
        str(file.relative_to(store.path)) for file in store.path.rglob("*") if file.is_file()
    )


def test_what_was_put_is_read_by_its_hash(store):
    """BUILD-99."""
    assert store.put(DATA) == SHA
    assert store.get(SHA) == DATA
    assert store.has(SHA)
    assert not store.has(OTHER)


def test_the_folder_is_made_when_the_first_blob_is_put(store):
    """BUILD-99."""
    assert not store.has(SHA)
    assert not store.path.exists()

    store.put(b"")

    assert store.get(sha256(b"").hexdigest()) == b""


def test_a_blob_that_is_there_is_not_written_again(store):
    """BUILD-99: never overwritten."""
    store.put(DATA)
    before = store.place(SHA).stat()

    store.put(DATA)

    assert store.place(SHA).stat().st_ino == before.st_ino
    assert files(store) == [f"{SHA[:2]}/{SHA[2:]}"]


def test_the_bytes_are_synced_before_the_rename_and_the_folder_after_it(store, monkeypatch):
    """BUILD-99: what put returned survives a power cut."""
    done = []
    fsync, rename = os.fsync, os.replace

    def note_sync(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        done.append(f"sync {kind}")
        fsync(descriptor)

    def note_rename(old, new):
        done.append("rename")
        rename(old, new)

    store.put(b"the folders are made")
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_rename)
    store.path.joinpath(SHA[:2]).mkdir(exist_ok=True)
    store.put(DATA)

    assert done == ["sync file", "rename", "sync folder"]


class Killed(BaseException):
    """Stands for the end of the process: nothing behind it runs but what must."""


def test_a_process_that_dies_before_the_rename_leaves_no_blob(store, monkeypatch):
    """BUILD-99, BUILD-38: nothing half-written is ever visible."""

    def die(*_):
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", die)
        with pytest.raises(Killed):
            store.put(DATA)

    assert not store.has(SHA)
    assert store.put(DATA) == SHA
    assert store.get(SHA) == DATA


def test_what_a_killed_process_left_is_nobodys_blob(store):
    """BUILD-99."""
    store.put(b"first")
    (store.path / ".new" / "left").write_bytes(DATA[:3])

    assert store.put(DATA) == SHA
    assert store.get(SHA) == DATA


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "reports an error"),
        (errno.ELOOP, "symbolic links"),
    ],
)
def test_a_disk_that_fails_is_told_in_one_line_and_leaves_nothing(
    store, monkeypatch, number, line
):
    """BUILD-38, BUILD-99."""
    store.put(b"first")
    before = files(store)

    def fail(*_):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fail)
        with pytest.raises(StoreUnusable, match=line) as told:
            store.put(DATA)

    assert str(told.value).count("\n") == 0
    assert files(store) == before


def test_a_write_that_takes_only_some_bytes_goes_on(store, monkeypatch):
    """BUILD-99."""
    write = os.write

    with monkeypatch.context() as slow:
        slow.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:2])))
        store.put(DATA)

    assert store.get(SHA) == DATA


def test_content_that_changed_is_noticed(store):
    """BUILD-99: its hash is checked when it is read."""
    store.put(DATA)
    store.place(SHA).write_bytes(b"b picture")

    with pytest.raises(StoreUnusable, match="damaged"):
        store.get(SHA)


def test_a_blob_that_was_cut_is_put_again(store):
    """BUILD-99."""
    store.put(DATA)
    store.place(SHA).write_bytes(DATA[:4])

    store.put(DATA)

    assert store.get(SHA) == DATA


def test_a_blob_or_a_folder_that_is_missing_is_told_apart(store):
    """BUILD-38."""
    with pytest.raises(StoreUnusable, match=r"no such folder.*CAPTURE_STORE"):
        store.get(SHA)
    store.put(b"first")
    with pytest.raises(StoreUnusable, match="no such blob"):
        store.get(SHA)


@pytest.mark.parametrize("name", ["", "x", "../../etc/passwd", SHA.upper(), SHA + "\n"])
def test_what_is_no_hash_names_no_file(store, name):
    """BUILD-99."""
    with pytest.raises(StoreUnusable, match="names no blob"):
        store.get(name)


def test_a_file_where_the_folder_should_be_is_told(tmp_path):
    """BUILD-38."""
    place = tmp_path / "taken"
    place.write_text("x")

    with pytest.raises(StoreUnusable, match="is a file"):
        FolderStore(place / "store").put(DATA)
    with pytest.raises(StoreUnusable, match="cannot be used"):
        FolderStore(place).put(DATA)


def test_a_folder_without_permission_is_told(store, monkeypatch):
    """BUILD-38: raised, since root may write anywhere."""

    def refuse(*_args, **_named):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)

    with pytest.raises(StoreUnusable, match="permission denied"):
        store.put(DATA)


def test_many_that_put_the_same_bytes_at_once_all_succeed(store):
    """BUILD-99: each store stands for a process; they share the folder and nothing else."""
    stores = [FolderStore(store.path) for _ in range(8)]
    for number in range(20):
        data = b"%d" % number * 5000
        together = Barrier(len(stores))

        def put(one, data=data, together=together):
            together.wait()
            return one.put(data)

        with ThreadPoolExecutor(len(stores)) as pool:
            assert set(pool.map(put, stores)) == {sha256(data).hexdigest()}
        assert store.get(sha256(data).hexdigest()) == data
    assert not list((store.path / ".new").iterdir())


def test_a_file_system_that_cannot_sync_a_folder_is_used_all_the_same(store, monkeypatch):
    """BUILD-99."""
    fsync = os.fsync

    def only_files(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)

    assert store.put(DATA) == SHA


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}", "FILE://{}"])
def test_a_path_and_a_file_address_open_the_same_store(tmp_path, form):
    """BUILD-99."""
    place = tmp_path / "a store"
    FolderStore(place).put(DATA)
    address = form.format(str(place).replace(" ", "%20") if ":" in form else place)

    store = open_store(address)

    assert store.get(SHA) == DATA
    assert open_store(store.url).get(SHA) == DATA


def test_a_path_may_begin_at_the_home_or_here(tmp_path, monkeypatch):
    """BUILD-99."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert open_store("~/x").url == open_store("x").url == (tmp_path / "x").as_uri()


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("s3://bucket/x", "no store at s3://"),
        ("https://example.test/x", "no store at https://"),
        ("file://host/x", "three slashes"),
        ("file:x/y", "three slashes"),
        ("", "empty"),
        ("a\0b", "NUL"),
    ],
)
def test_an_address_of_another_kind_is_refused_in_one_line(
    address, line, tmp_path, monkeypatch
):
    """BUILD-99."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(BadInput, match=line) as told:
        open_store(address)

    assert str(told.value).count("\n") == 0
