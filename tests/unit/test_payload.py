"""What is stored of a job's payload, and what is read back."""

import pytest

from capture_consumer.consumer.payload import Payload, decode, encode


def test_what_is_sent_is_read_back():
    """JOB-10."""
    sent = Payload({"n": 1}, request_id="r", traceparent="t")

    assert decode(encode(sent)) == sent


def test_nothing_to_store_stores_nothing():
    """JOB-10."""
    assert encode(Payload()) is None


@pytest.mark.parametrize(
    "stored",
    [None, "", "{", "[1]", "7", '"x"', "null", '{"data": 7, "request_id": 1}', "[" * 100_000],
)
def test_whatever_cannot_be_read_is_empty_and_raises_nothing(stored):
    """JOB-11, Q-60."""
    assert decode(stored) == Payload()
