"""The map of a finished build as bytes."""

import zlib
from time import process_time

import pytest
from hypothesis import given, strategies as st

from capture_consumer.builds.manifest import decode, encode, sha_of


@given(st.dictionaries(st.integers(1, 10**15), st.integers(1, 10**15)))
def test_a_map_comes_back_and_equal_maps_are_one_blob(accepted):
    """BUILD-68."""
    data = encode(accepted)

    assert decode(data) == accepted
    assert encode(dict(reversed(accepted.items()))) == data


def test_fifty_thousand_entries_are_quick_and_small():
    """BUILD-68."""
    accepted = {number: number * 7 for number in range(50_000)}
    began = process_time()

    data = encode(accepted)

    assert decode(data) == accepted
    assert process_time() - began < 2
    assert len(data) < 1_000_000
    assert len(sha_of(data)) == 64


@pytest.mark.parametrize("data", [b"", b"{}", zlib.compress(b"[]"), zlib.compress(b'{"a":1}')])
def test_other_bytes_are_no_manifest(data):
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the promise
        decode(data)
