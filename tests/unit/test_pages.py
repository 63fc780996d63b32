"""A build's report: whole, escaped, and readable with nothing but a browser."""

import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest
from PIL import Image

from capture_consumer.builds.facts import (
    BuildFact,
    BuildView,
    BuiltFact,
    ComparisonFact,
    ImageFact,
    KeyFact,
    ProjectFact,
    SnapshotFact,
    SnapshotView,
    TryFact,
)
from capture_consumer.errors import BadInput, StoreUnusable
from capture_consumer.pages import report
from capture_consumer.pages.render import count, lines, moment, share

AT = datetime(2026, 3, 9, 14, 25, tzinfo=UTC)
BUILD = BuildFact(
    id=2, project=ProjectFact(1, "shop-ui"), number=128, name="default", kind="storybook",
    lane_id=1, ref="x", commit_sha="4f1c22a9e0b7d5a1", head_sha=None, branch="feature/calm",
    pull=341, base_branch="main", pinned_base=None, subset=False, trusted=True, retry_of=None,
    superseded_by=None, phase="finished", verdict="needs_review", rev=9, error_code=None,
    error_text=None, environment=None, manifest_sha=None,
    counts={"total": 3, "changed": 2, "new": 1}, created_at=AT, pending_at=AT,
    finished_at=AT + timedelta(minutes=2),
)  # fmt: skip
BEFORE = BuiltFact(
    build_id=1, number=127, commit_sha="9b1deb4d3b7d", branch="main", pull=None, trusted=True,
    manifest_sha="m", finished_at=AT,
)  # fmt: skip


class Blobs:
    """A store in memory."""

    def __init__(self):
        self.kept = {}

    def put(self, data):
        sha = sha256(data).hexdigest()
        self.kept[sha] = data
        return sha

    def get(self, sha):
        if sha not in self.kept:
            raise StoreUnusable(f"no such blob: {sha}")
        return self.kept[sha]

    def picture(self, colour, size=(30, 20)):
        file = io.BytesIO()
        Image.new("RGB", size, colour).save(file, "PNG")
        return ImageFact(len(self.kept), colour, self.put(file.getvalue()), *size)


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and the text."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.text = ""
        self.silent = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.silent = tag in {"script", "style"}

    def handle_endtag(self, tag):
        self.silent = False

    def handle_data(self, data):
        self.text += "" if self.silent else data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def blobs():
    return Blobs()


@pytest.fixture
def read(blobs, tmp_path):
    """Return a function that writes a report of snapshots and reads it."""

    def written(*snapshots, build=BUILD, baseline=BEFORE, reason="ancestor"):
        view = BuildView(build, snapshots, (), baseline, reason)
        place = report.write(view, blobs.get, tmp_path / "report")
        return Page(place.read_text(encoding="utf-8"))

    return written


def snapshot(outcome, *, number=1, title="Button/Danger", **more):
    """Return a snapshot of an outcome, as `show` sees it."""
    view = {
        name: more.pop(name)
        for name in ("tries", "comparison", "review_source")
        if name in more
    }
    key = KeyFact(number, more.pop("story_id", f"story--{number}"), "{}", "chromium")
    state: Any = (
        outcome
        if outcome in {"errored", "unstable", "lost", "skipped", "planned"}
        else "captured"
    )
    fact = SnapshotFact(
        id=number, key=key, shard_id=1, title=title, state=state,
        flaky=more.pop("flaky", False),
        image=more.pop("image", None), baseline=more.pop("baseline", None),
        error_code=more.pop("code", None), message=more.pop("message", None),
        outcome=None if outcome in {"planned", "captured"} else outcome, **more,
    )  # fmt: skip
    return SnapshotView(
        fact=fact, mode_name="desktop", baseline_build=127, baseline_reason="ancestor",
        comparison=view.get("comparison"), review_source=view.get("review_source"),
        tries=view.get("tries", ()),
    )  # fmt: skip


def changed(blobs, **more):
    comparison = ComparisonFact(
        1, 1, 2, "p", "changed", 12_345, 0.0257, (20, 10, 5, 4),
        ({"kind": "inserted", "at": 16, "rows": 40, "drawn_at": 16},),
        blobs.picture("purple").blob_sha,
    )  # fmt: skip
    return snapshot(
        "changed", image=blobs.picture("red"), baseline=blobs.picture("blue"),
        comparison=comparison, review="pending", **more,
    )  # fmt: skip


def test_a_change_is_shown_as_baseline_new_and_difference_with_its_figures(read, blobs):
    """BUILD-112, CAP-34."""
    page = read(changed(blobs))

    assert [image["alt"].split(":")[0] for image in page.all("img")] == [
        "Baseline",
        "New",
        "Difference",
    ]
    for told in (
        "12,345 px",
        "2.57%",
        "within 5 \N{MULTIPLICATION SIGN} 4 at 20, 10",
        "40 rows inserted at 16",
    ):
        assert told in page.text
    assert "needs review" in page.text


def test_every_picture_is_a_file_beside_the_page_and_links_to_its_full_size(
    read, blobs, tmp_path
):
    """BUILD-112."""
    page = read(changed(blobs), snapshot("new", number=2, image=blobs.picture("red")))

    sources = [image["src"] for image in page.all("img")]
    assert len(sources) == 4
    assert all((tmp_path / "report" / source).is_file() for source in sources)
    assert set(sources) <= {link["href"] for link in page.all("a")}
    assert len(list((tmp_path / "report" / "pictures").iterdir())) == 3
    assert [(image["width"], image["height"]) for image in page.all("img")] == [
        ("30", "20")
    ] * 4


def test_the_page_asks_no_network_for_anything(read, blobs):
    """BUILD-112, BUILD-113: and its policy forbids whatever else would."""
    page = read(changed(blobs, title="x"))

    addresses = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in {"src", "href", "srcset", "action", "data", "poster"}
    ]
    assert all(re.match(r"#|pictures/|logs/|data:", address) for address in addresses)
    assert not page.all("link")
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'; img-src 'self' file: data:;")
    assert "script-src 'sha256-" in policy


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "[link](http://evil.test) @everyone | `x`",
    "]]> --> </style></title>",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_story_is_called_is_text_and_nothing_else(read, blobs, name):
    """BUILD-113, B-22, C-27."""
    plain = read(changed(blobs, title="Plain"))

    hostile = read(
        changed(blobs, title=name.replace("/", "|"), story_id=name),
        build=replace(BUILD, branch=name, name="default"),
    )

    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert name in hostile.text
    assert [set(attributes) for _, attributes in hostile.tags] == [
        set(attributes) for _, attributes in plain.tags
    ]


@pytest.mark.parametrize("name", ["Компонент", "日本語 😀", "عربى"])
def test_names_of_any_script_are_shown_as_they_are(read, blobs, name):
    """C-27."""
    assert name in read(changed(blobs, title=name)).text


def test_signs_that_turn_text_around_or_hide_are_taken_out(read, blobs):
    """BUILD-120, C-27."""
    page = read(changed(blobs, title="safe\u202eexe.gnp\x07\x00", message="one\u2066\ntwo"))

    assert "safeexe.gnp" in page.text
    assert not set("\u202e\u2066\x07\x00") & set(page.text)


def test_an_error_shows_its_message_and_the_first_lines_of_its_log(read, blobs, tmp_path):
    """BUILD-112."""
    log = blobs.put("\n".join(f"line {number} <b>" for number in range(100)).encode())
    taken = TryFact(1, 1, "errored", AT, AT, None, {"step": "render"}, log)

    page = read(
        snapshot("errored", message="TypeError: x\nat y", code="render_error", tries=(taken,))
    )

    assert "TypeError: x" in page.text
    assert "render_error" in page.text
    assert "line 29 <b>" in page.text
    assert "line 30 <b>" not in page.text
    assert "70 more lines" in page.text
    assert (tmp_path / "report" / "logs" / f"{log}.txt").read_bytes() == blobs.get(log)


def test_an_error_without_a_log_shows_what_the_try_recorded(read):
    """BUILD-112."""
    taken = TryFact(1, 1, "errored", AT, AT, None, {"step": "play", "expected": "<b>"}, None)

    assert '"expected": "<b>"' in read(snapshot("errored", tries=(taken,))).text


def test_an_unstable_story_shows_the_picture_of_every_try(read, blobs):
    """BUILD-45, BUILD-112."""
    tries = tuple(
        TryFact(number, 1, "moving", AT, AT, blobs.picture(colour), None, None)
        for number, colour in enumerate(("red", "green", "blue"), 1)
    )

    page = read(snapshot("unstable", tries=tries, baseline=blobs.picture("white")))

    assert [image["alt"].split(":")[0] for image in page.all("img")] == [
        "Baseline",
        "Try 1",
        "Try 2",
        "Try 3",
    ]


def test_groups_come_in_the_order_of_their_weight(read, blobs):
    """BUILD-112."""
    outcomes = [
        "unchanged",
        "lost",
        "unstable",
        "errored",
        "removed",
        "new",
        "carried",
        "skipped",
    ]
    image = blobs.picture("red")

    page = read(
        *(
            snapshot(outcome, number=number, image=image, baseline=image)
            for number, outcome in enumerate(outcomes, 2)
        ),
        changed(blobs),
    )

    assert [section["id"] for section in page.all("section")] == [
        "changed",
        "new",
        "removed",
        "errored",
        "unstable",
        "lost",
        "carried",
        "skipped",
        "unchanged",
    ]


def test_what_is_unchanged_or_lost_is_a_line_without_a_picture(read, blobs):
    """BUILD-112."""
    image = blobs.picture("red")

    page = read(
        snapshot("unchanged", image=image, baseline=image),
        snapshot("lost", number=2, title="Slow", message="the shard ended: no browser"),
    )

    assert not page.all("img")
    assert "the shard ended: no browser" in page.text


@pytest.mark.parametrize("content", [None, b"", b"<svg/>", b"\x89PNG\r\n\x1a\n"])
def test_a_picture_that_is_gone_or_broken_costs_its_place_alone(read, blobs, content):
    """BUILD-112."""
    one = changed(blobs)
    sha = one.fact.baseline.blob_sha
    blobs.kept = {
        name: data if name != sha else content
        for name, data in blobs.kept.items()
        if name != sha or content is not None
    }

    page = read(one)

    assert len(page.all("img")) == 2
    assert "gone from the store" in page.text or "is no picture" in page.text


def test_a_log_that_is_gone_is_told(read, blobs):
    """BUILD-112."""
    taken = TryFact(1, 1, "errored", AT, AT, None, None, "0" * 64)

    assert "The log is gone" in read(snapshot("errored", tries=(taken,))).text


@pytest.mark.parametrize(
    ("baseline", "reason", "words"),
    [
        (BEFORE, "ancestor", "Compared with build 127 (commit 9b1deb4d3): it is the nearest"),
        (BEFORE, "approximate", "fetch more history"),
        (BEFORE, "latest", "newest finished build"),
        (BEFORE, "pinned", "was named"),
        (None, "first_build", "This is the first build"),
        (None, "none", "No finished build was found"),
        (None, None, "Nothing was compared"),
    ],
)
def test_the_page_says_why_this_baseline(read, blobs, baseline, reason, words):
    """BUILD-64, BUILD-112."""
    assert words in read(changed(blobs), baseline=baseline, reason=reason).text


@pytest.mark.parametrize(("theirs", "said"), [("other", True), ("ours", False), (None, False)])
def test_the_page_says_when_the_baseline_was_taken_in_another_environment(
    read, blobs, theirs, said
):
    """BUILD-50."""
    build = replace(BUILD, environment="ours")

    page = read(changed(blobs), build=build, baseline=replace(BEFORE, environment=theirs))

    assert ("taken with another browser or other fonts" in page.text) is said


def test_what_was_decided_and_by_which_rule_is_told(read, blobs):
    """BUILD-112."""
    image = blobs.picture("red")

    page = read(
        snapshot("new", image=image, review="accepted", review_source="first_build"),
        snapshot("new", number=2, image=image, review="rejected", flaky=True),
    )

    assert "accepted as first build" in page.text
    assert "rejected" in page.text
    assert "Not all tries agreed" in page.text


def test_the_page_says_how_to_answer_when_something_waits_for_it(read, blobs):
    """BUILD-112, BUILD-120: no name that a story made up stands in a command."""
    image = blobs.picture("red")
    waits = snapshot("new", image=image, review="pending", story_id="a--$(rm)")

    told = read(waits, snapshot("new", number=2, image=image, review="accepted")).text

    assert "1 to answer: capture-consumer review shop-ui/128 --accept '*'" in told
    assert "to answer" not in read(snapshot("new", image=image, review="accepted")).text


def test_a_build_that_runs_shows_how_far_it_is(read, blobs):
    """BUILD-112."""
    open_build = replace(BUILD, phase="capturing", verdict=None, finished_at=None)

    page = read(
        snapshot("planned"),
        snapshot("captured", number=2, image=blobs.picture("red")),
        build=open_build,
        baseline=None,
        reason=None,
    )

    assert "Capturing 1/2" in page.text
    assert [section["id"] for section in page.all("section")] == ["planned", "captured"]


def test_a_build_without_snapshots_says_so(read):
    """BUILD-112."""
    failed = replace(BUILD, phase="failed", verdict=None, error_text="index.json is <HTML>")

    page = read(build=failed, baseline=None, reason=None)

    assert "index.json is <HTML>" in page.text
    assert "no snapshots" in page.text


def test_the_page_can_be_read_by_a_screen_reader(read, blobs):
    """BUILD-112: a language, one first heading, a name for each picture and region."""
    page = read(changed(blobs), snapshot("new", number=2, image=blobs.picture("red")))

    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    assert all(image["alt"].strip() for image in page.all("img"))
    named = {heading.get("id") for heading in page.all("h2")}
    assert all(section["aria-labelledby"] in named for section in page.all("section"))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_second_report_into_the_folder_replaces_the_page_and_keeps_pictures(
    read, blobs, tmp_path
):
    """BUILD-112."""
    read(changed(blobs))
    picture = next((tmp_path / "report" / "pictures").iterdir())
    before = picture.stat().st_mtime_ns

    page = read(changed(blobs, title="Renamed"))

    assert "Renamed" in page.text
    assert picture.stat().st_mtime_ns == before
    assert not list((tmp_path / "report").glob(".index*"))


def test_a_folder_that_cannot_be_written_is_told_in_one_line(blobs, tmp_path):
    """BUILD-112."""
    (tmp_path / "file").write_text("x")
    view = BuildView(BUILD, (), (), None, None)

    with pytest.raises(BadInput, match=r"cannot be written to .*file"):
        report.write(view, blobs.get, tmp_path / "file" / "report")


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.0, "0.00%"),
        (0.00001, "under 0.01%"),
        (0.123456, "12.35%"),
        (0.99999, "99.99%"),
        (1.0, "100.00%"),
    ],
)
def test_a_share_is_never_rounded_to_nothing_or_to_all(ratio, words):
    """BUILD-112."""
    assert share(ratio) == words


def test_numbers_and_instants_are_for_people():
    """BUILD-112."""
    assert count(1_234_567) == "1,234,567"
    assert moment(AT) == "9 Mar 2026, 14:25 UTC"
    assert lines("a\nb\nc", 2) == ("a", "b")
