"""What the loopback server of a build gives, and to whom."""

import http.client

import pytest

from capture_consumer.capture.server import SiteServer
from capture_consumer.capture.storybook import Site

FILES = {"iframe.html": "a", "assets/app.js": "b", "ж ö.svg": "c"}
CONTENTS = {"a": b"<p>", "b": b"1", "c": b"<svg/>"}


@pytest.fixture
def server():
    with SiteServer(Site(FILES, CONTENTS.__getitem__)) as running:
        yield running


@pytest.fixture
def ask(server):
    """Return a function that asks the server for a path as it stands."""

    def ask(path, *, host=None, method="GET"):
        connection = http.client.HTTPConnection(server.authority, timeout=5)
        connection.request(method, path, headers={"Host": host or server.authority})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    return ask


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/iframe.html?id=a--b", b"<p>", "text/html; charset=utf-8"),
        ("/assets/app.js", b"1", "text/javascript; charset=utf-8"),
        ("/%D0%B6%20%C3%B6.svg", b"<svg/>", "image/svg+xml"),
    ],
)
def test_a_known_file_is_immutable_and_of_its_type(ask, path, body, kind):
    """CAP-7."""
    answer, got = ask(path)

    assert (answer.status, got) == (200, body)
    assert answer.headers["Content-Type"] == kind
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["/", "/assets", "/assets/", "/../etc/passwd", "/assets/../iframe.html"],
)
def test_nothing_but_known_files_is_given(ask, server, path):
    """CAP-7: no folder, no way out of it."""
    answer, body = ask(path)

    assert (answer.status, body) == (404, b"")
    assert len(server.missed()) == 1


def test_another_name_for_the_same_address_is_another_origin(ask):
    """CAP-7."""
    answer, _ = ask("/iframe.html", host="evil.example")

    assert answer.status == 421


def test_head_has_no_body(ask):
    """CAP-7."""
    answer, body = ask("/iframe.html", method="HEAD")

    assert (answer.status, body) == (200, b"")
    assert answer.headers["Content-Length"] == "3"


def test_a_store_that_fails_is_told_to_the_camera(ask, server):
    """BUILD-38."""
    CONTENTS.pop("b", None)
    try:
        answer, _ = ask("/assets/app.js")
    finally:
        CONTENTS["b"] = b"1"

    assert answer.status == 500
    assert isinstance(server.fault, KeyError)


def test_two_sites_have_two_origins(server):
    """CAP-7."""
    with SiteServer(Site(FILES, CONTENTS.__getitem__)) as other:
        assert other.origin != server.origin
