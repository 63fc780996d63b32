"""A page reaches nobody but its own origin and the allowed, and nothing of others (CAP-8)."""

from __future__ import annotations

import pytest

from capture_consumer.builds.identity import DEFAULT_MODE
from tests.storybooks import tiny
from tests.storybooks.files import site_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

TELL = "localStorage.setItem('k', 'of build 1'); document.cookie = 'k=of build 1';"
READ = (
    "root.textContent = `[${localStorage.getItem('k')}] [${document.cookie}]`;"
    " console.log(root.textContent);"
)

WAYS_OUT = {
    "fetch": "await fetch(`http://${there}/x`).catch(() => 0);",
    "socket": """
        const socket = new WebSocket(`ws://${there}/x`);
        await new Promise((done) => (socket.onerror = socket.onopen = done));
    """,
    "image": """
        const image = new Image();
        const ended = new Promise((done) => (image.onerror = image.onload = done));
        image.src = `http://${there}/x.png`;
        await ended;
    """,
    "beacon": """
        navigator.sendBeacon(`http://${there}/x`, "secret");
        await new Promise((done) => setTimeout(done, 200));
    """,
    "frame": """
        const inner = document.createElement("iframe");
        inner.src = `http://${there}/x`;
        root.append(inner);
        await new Promise((done) => (inner.onload = done));
    """,
    "style": """
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = `http://${there}/x.css`;
        document.head.append(link);
        await new Promise((done) => (link.onerror = link.onload = done));
    """,
    "worker": """
        const code = `fetch("http://${there}/x").finally(() => postMessage(1))`;
        const worker = new Worker(URL.createObjectURL(new Blob([code])));
        await new Promise((done) => (worker.onmessage = done));
    """,
    "preconnect": """
        for (const rel of ["dns-prefetch", "preconnect", "prefetch", "preload"]) {
          const link = document.createElement("link");
          link.rel = rel;
          link.as = "fetch";
          link.href = `http://${there}/x`;
          document.head.append(link);
        }
        await new Promise((done) => setTimeout(done, 300));
    """,
    "form": """
        const inner = document.createElement("iframe");
        inner.name = "inner";
        const form = document.createElement("form");
        Object.assign(form, { action: `http://${there}/x`, target: "inner" });
        root.append(inner, form);
        form.submit();
        await new Promise((done) => setTimeout(done, 300));
    """,
}


def told(shot):
    """Return what the story's page logged itself."""
    return [line for line in shot.log.splitlines() if line.startswith("log:")]


@pytest.mark.parametrize(
    "address",
    [
        "http://fonts.example.com/a.woff2",
        "https://fonts.example.com/a.woff2",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:9999/",
        "http://localhost:9999/",
    ],
)
def test_another_host_is_refused_at_once_and_listed(camera, tmp_path, address):
    """CAP-8, C-1."""
    ask = f"const told = await fetch('{address}', {{mode: 'no-cors'}}).then(() => 1, () => 0);"
    story = tiny.Story("asks--it", html="<p>x</p>", render=ask)
    camera.open(site_of(tiny.write(tmp_path / "tiny", [story])))

    shot = camera.take("asks--it", DEFAULT_MODE)

    host = (
        address.split("//")[1].split("/")[0].rsplit(":", 1)[0] if "[" not in address else "::1"
    )
    assert shot.result == "still"
    assert f"refused: {host} (1)" in shot.warnings
    assert shot.steps_ms["render"] < 2_000


@pytest.mark.parametrize("way", WAYS_OUT.values(), ids=WAYS_OUT.keys())
def test_no_way_out_reaches_a_server_on_this_machine(camera, tmp_path, outside, way):
    """CAP-8, CAP-10."""
    there = f"127.0.0.1:{outside.server_address[1]}"
    render = f"const there = '{there}'; {way}"
    story = tiny.Story("asks--it", html="<p>x</p>", render=render)
    camera.open(site_of(tiny.write(tmp_path / "tiny", [story])))

    camera.take("asks--it", DEFAULT_MODE)

    assert outside.asked == []


def test_an_allowed_name_that_leads_inside_is_refused(camera, tmp_path, outside):
    """CAP-8: private addresses are refused even when allowed by name."""
    port = outside.server_address[1]
    ask = f"await fetch('http://localhost:{port}/a').catch(() => 0);"
    story = tiny.Story("asks--it", html="<p>x</p>", render=ask)
    camera.open(site_of(tiny.write(tmp_path / "tiny", [story]), allow=("localhost",)))

    shot = camera.take("asks--it", DEFAULT_MODE)

    assert outside.asked == []
    assert "refused: localhost (1)" in shot.warnings


def test_a_build_finds_nothing_that_another_build_has_stored(camera, tmp_path):
    """CAP-7, C-18."""
    writes, reads = tiny.Story("a--writes", render=TELL), tiny.Story("a--reads", render=READ)
    site = site_of(tiny.write(tmp_path / "tiny", [writes, reads]))

    camera.open(site)
    camera.take("a--writes", DEFAULT_MODE)
    same = camera.take("a--reads", DEFAULT_MODE)
    confirmed = camera.take("a--reads", DEFAULT_MODE, fresh=True)
    camera.open(site)
    other = camera.take("a--reads", DEFAULT_MODE)

    assert told(same) == ["log: [of build 1] [k=of build 1]"]
    assert told(confirmed) == ["log: [null] []"]
    assert told(other) == ["log: [null] []"]


def test_dialogs_popups_and_files_come_to_nothing(camera, tmp_path):
    """CAP-8."""
    tries = (
        "alert('x'); console.log(String(confirm('x')), String(window.open('/iframe.html')));"
        " const file = await fetch('file:///etc/hostname').then(() => 'read', () => 'refused');"
        " console.log(file); root.textContent = 'done';"
    )
    camera.open(site_of(tiny.write(tmp_path / "tiny", [tiny.Story("a--tries", render=tries)])))

    shot = camera.take("a--tries", DEFAULT_MODE)

    assert shot.result == "still"
    assert told(shot) == ["log: false null", "log: refused"]


def test_a_file_that_is_missing_is_told(camera, tmp_path):
    """CAP-20."""
    story = tiny.Story("a--broken", html="<img src='nope/404.png' alt='gone'>")
    camera.open(site_of(tiny.write(tmp_path / "tiny", [story])))

    shot = camera.take("a--broken", DEFAULT_MODE)

    assert shot.result == "still"
    assert "missing: /nope/404.png" in shot.warnings


def test_a_font_that_never_comes_is_a_warning_with_its_address(camera, tmp_path):
    """CAP-17, C-1."""
    face = "@font-face{font-family:far;src:url(https://fonts.example.com/far.woff2)}"
    html = f"<style>{face} p{{font:20px far,serif}}</style><p>Far away</p>"
    camera.open(site_of(tiny.write(tmp_path / "tiny", [tiny.Story("a--font", html=html)])))

    shot = camera.take("a--font", DEFAULT_MODE)

    assert shot.result == "still"
    assert "1 font not loaded: https://fonts.example.com/far.woff2" in shot.warnings


def test_a_store_that_cannot_be_read_is_no_fault_of_the_story(camera, tmp_path):
    """BUILD-38."""
    site = site_of(tiny.write(tmp_path / "tiny", [tiny.still("a--one")]))

    def gone(_sha: str) -> bytes:
        raise OSError("disk gone")

    camera.open(type(site)(site.files, gone))

    with pytest.raises(OSError, match="disk gone"):
        camera.take("a--one", DEFAULT_MODE)
