"""How a browser is started: what it may reach, what it is told, and when it cannot be."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from capture_consumer.builds.identity import DEFAULT_MODE
from capture_consumer.capture.guard import Guard
from capture_consumer.capture.limits import Limits
from capture_consumer.capture.shutter import Camera
from capture_consumer.errors import BrowserUnusable
from tests.storybooks import tiny
from tests.storybooks.files import site_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

STORIES = [tiny.still("good--one")]


def test_an_allowed_host_is_reached_by_its_name_alone(browser, scratch, tmp_path, outside):
    """CAP-8."""
    port = outside.server_address[1]
    guard = Guard(look_up=lambda _host, _port: ["127.0.0.1"], is_public=lambda _: True)
    ask = f"await fetch('http://cdn.example.com:{port}/a').catch(() => 0);"
    other = f"await fetch('http://other.example.com:{port}/a').catch(() => 0);"
    story = tiny.Story("asks--it", html="<p>x</p>", render=ask + other)

    with Camera(browser, scratch=scratch, guard=guard) as camera:
        site = site_of(tiny.write(tmp_path / "tiny", [story]), allow=("cdn.example.com",))
        camera.open(site)
        shot = camera.take("asks--it", DEFAULT_MODE)

    assert outside.asked == [f"cdn.example.com:{port}/a"]
    assert "refused: other.example.com (1)" in shot.warnings


def test_a_request_that_is_never_answered_is_waited_for_up_to_its_cap(
    browser, scratch, tmp_path
):
    """CAP-17, C-9."""
    guard = Guard(look_up=lambda _host, _port: ["127.0.0.1"], is_public=lambda _: True)
    ask = "void fetch('http://slow.example.com:{}/x'); root.textContent = 'asks';"
    with socket.create_server(("127.0.0.1", 0)) as mute:
        story = tiny.Story("asks--it", render=ask.format(mute.getsockname()[1]))
        limits = Limits(settle_ms=500)
        with Camera(browser, scratch=scratch, guard=guard, limits=limits) as camera:
            site = site_of(tiny.write(tmp_path / "tiny", [story]), allow=("*.example.com",))
            camera.open(site)
            shot = camera.take("asks--it", DEFAULT_MODE)

    assert shot.result == "still"
    assert "network_not_idle" in shot.warnings


def test_a_browser_that_does_not_start_is_no_fault_of_the_story(browser, tmp_path):
    """BUILD-38."""
    broken = type(browser)("/bin/false", browser.version, browser.kind)

    with Camera(broken, scratch=tmp_path / "scratch") as camera:
        camera.open(site_of(tiny.write(tmp_path / "tiny", STORIES)))
        with pytest.raises(BrowserUnusable, match="/bin/false does not start"):
            camera.take("good--one", DEFAULT_MODE)


def test_the_browser_is_told_no_secret_of_ours(browser, tmp_path, monkeypatch):
    """CAP-10."""
    monkeypatch.setenv("CAPTURE_DATABASE_URL", "postgresql://me:secret@db/x")

    with Camera(browser, scratch=tmp_path / "scratch") as camera:
        camera.open(site_of(tiny.write(tmp_path / "tiny", STORIES)))
        camera.take("good--one", DEFAULT_MODE)
        told = [_environment(pid) for pid in camera.pids()[1:]]

    assert any(told)
    assert not any(b"secret" in one for one in told)


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
