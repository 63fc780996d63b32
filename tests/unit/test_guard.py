"""Whom the guard lets through."""

import pytest

from capture_consumer.capture.guard import Guard, is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.16.3.4", False),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:169.254.169.254", False),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_only_public_addresses_are_outside(address, public):
    """CAP-8."""
    assert is_public(address) is public


@pytest.fixture
def guard():
    made = Guard(look_up=lambda *_: ["93.184.215.14", "10.0.0.1"])
    yield made
    made.close()


@pytest.mark.parametrize("host", ["cdn.example.com", "other.example.com", "CDN.example.com."])
def test_a_name_with_one_address_inside_is_refused_and_counted(guard, host):
    """CAP-8."""
    guard.allow(["cdn.example.com"])

    assert guard.connect(host, 443) is None
    assert guard.connect(host, 443) is None
    assert guard.refused() == {host.lower().rstrip("."): 2}
    assert guard.refused() == {}
