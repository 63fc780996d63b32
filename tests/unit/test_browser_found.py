"""Which browser is taken, in which order, and what is said when there is none."""

import sys
from pathlib import Path

import pytest

from capture_consumer.capture.browser import find
from capture_consumer.capture.flags import (
    FLAGS,
    environment_of_browser,
    may_use_sandbox,
    user_agent,
)
from capture_consumer.errors import BrowserUnusable


@pytest.fixture
def place(tmp_path):
    """Return a function that puts a program there which tells a version."""

    def put(path: str, says: str = "Chromium 156.0.1.2") -> Path:
        file: Path = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\necho '{says}'\n")
        file.chmod(0o755)
        return file

    return put


@pytest.mark.parametrize(
    ("there", "found", "kind"),
    [
        (["chromium-headless-shell", "chromium", "google-chrome"], 0, "shell"),
        (["chromium", "google-chrome"], 0, "chromium"),
        (["google-chrome"], 0, "chrome"),
    ],
)
def test_a_headless_shell_comes_before_chromium_before_chrome(
    tmp_path, place, there, found, kind
):
    """CAP-3."""
    says = {"google-chrome": "Google Chrome 156.0.1.2"}
    files = [place(f"bin/{name}", says.get(name, "Chromium 156.0.1.2")) for name in there]

    choice = find(None, {"PATH": str(tmp_path / "bin")})

    assert (choice.path, choice.kind) == (str(files[found]), kind)
    assert choice.version == "156.0.1.2"


def test_what_is_asked_for_comes_before_the_setting_before_all_else(tmp_path, place):
    """CAP-3."""
    asked, told, there = place("a/mine"), place("b/told"), place("bin/chromium")
    environ = {"PATH": str(there.parent), "CAPTURE_BROWSER": str(told)}

    assert find(str(asked), environ).path == str(asked)
    assert find(None, environ).path == str(told)


def test_playwright_s_own_cache_is_looked_at_last(tmp_path, place):
    """CAP-3."""
    cached = place("cache/chromium-1200/chrome-linux/chrome")

    choice = find(None, {"PATH": "", "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "cache")})

    assert choice.path == str(cached)


def test_a_wrapper_script_is_followed_to_the_binary_it_starts(tmp_path):
    """CAP-3: what is started must be what is killed."""
    binary = tmp_path / "lib" / "chromium" / "chromium"
    binary.parent.mkdir(parents=True)
    binary.symlink_to(sys.executable)
    wrapper = tmp_path / "chromium"
    wrapper.write_text(f'#!/bin/sh -e\n\n{binary} "$@"\n')
    wrapper.chmod(0o755)

    assert find(str(wrapper), {}).path == str(binary)


@pytest.mark.parametrize("wanted", ["/no/such/browser", "no-such-browser"])
def test_a_browser_that_is_not_there_is_said_in_one_line(wanted):
    """CAP-3."""
    with pytest.raises(BrowserUnusable, match=f"There is no browser '{wanted}'"):
        find(wanted, {"PATH": ""})


def test_without_any_browser_the_ways_out_are_named(tmp_path):
    """CAP-3."""
    with pytest.raises(BrowserUnusable) as told:
        find(None, {"PATH": str(tmp_path), "HOME": str(tmp_path)})

    assert "playwright install chromium" in str(told.value)
    assert "CAPTURE_BROWSER" in str(told.value)


def test_a_browser_that_does_not_tell_its_version_is_unusable(place):
    """CAP-5."""
    mute = place("bin/chromium", says="hello")

    with pytest.raises(BrowserUnusable, match="does not tell its version"):
        find(str(mute), {})


def test_the_browser_is_given_few_variables_of_ours(tmp_path):
    """CAP-10."""
    ours = {"PATH": "/bin", "CAPTURE_DATABASE_URL": "secret", "GITHUB_TOKEN": "secret"}

    given = environment_of_browser(ours, tmp_path)

    assert given["PATH"] == "/bin"
    assert "secret" not in given.values()
    assert given["HOME"] == str(tmp_path)


def test_only_root_goes_without_the_sandbox_at_once(monkeypatch):
    """CAP-4."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    as_root = may_use_sandbox()
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    assert (as_root, may_use_sandbox()) == (False, True)
    assert "--no-sandbox" not in FLAGS


def test_the_user_agent_says_what_spares_storybook_s_wait():
    """CAP-15."""
    agent = user_agent("156.0.8078.108")

    assert "StorybookTestRunner" in agent
    assert "HeadlessChrome/156.0.0.0" in agent
