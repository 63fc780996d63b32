"""Pages say what the code does: settings, commands, metrics, decisions, paths."""

import re
from pathlib import Path

import pytest

from capture_consumer.cli import COMMANDS
from capture_consumer.cli.exits import OF_ENDS, OF_VERDICTS
from capture_consumer.metrics import METRICS
from capture_consumer.settings.table import SETTINGS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ADRS = sorted((ROOT / "adr").glob("[0-9]*.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md")), *ADRS]
PATH = re.compile(r"`((?:capture_consumer|scripts|tests|docs|adr|\.ci)/[\w./-]*)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
ROW = re.compile(r"^\| `(?P<name>CAPTURE_\w+)` \| (?P<default>.*?) \| (?P<does>.*) \|$", re.M)
WIDEST = 120


def text_of(path: Path) -> str:
    """Return a page."""
    return path.read_text(encoding="utf-8")


def test_every_setting_has_its_line_and_every_line_its_setting():
    told = [
        row.group("name", "default", "does")
        for row in ROW.finditer(text_of(DOCS / "settings.md"))
    ]

    assert told == [(one.variable, one.default, one.does) for one in SETTINGS]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_line(name):
    assert re.search(rf"^\| `{name}[ `]", text_of(DOCS / "commands.md"), re.M)


@pytest.mark.parametrize("words", [OF_VERDICTS, OF_ENDS], ids=["verdicts", "ends"])
def test_every_exit_code_is_told(words):
    """BUILD-122."""
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text_of(DOCS / "commands.md"), re.M)

    for word, code in words.items():
        assert any(f"`{word}`" in told and int(row) == code for row, told in rows), word


def test_every_metric_has_its_line():
    told = set(re.findall(r"^\| `capture_(\w+)`", text_of(DOCS / "deploy.md"), re.M))

    assert told == {metric.name for metric in METRICS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_is_there(page):
    for named in PATH.findall(text_of(page)):
        assert (ROOT / named).exists(), named
    for linked in LINK.findall(text_of(page)):
        assert (page.parent / linked).exists(), linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_readable_in_a_terminal_and_promises_nothing_for_later(page):
    lines = text_of(page).splitlines()

    assert [line for line in lines if len(line) > WIDEST and not line.startswith("|")] == []
    assert not re.search(r"TODO|FIXME|issue #", text_of(page))


def test_decisions_are_numbered_without_a_gap_and_indexed():
    numbers = [int(page.name[:4]) for page in ADRS]
    index = text_of(ROOT / "adr" / "README.md")

    assert numbers == list(range(1, len(ADRS) + 1))
    assert re.findall(r"\((\d{4}-[\w-]+\.md)\)", index) == [page.name for page in ADRS]


@pytest.mark.parametrize("page", ADRS, ids=lambda page: page.name)
def test_a_decision_says_why_what_else_what_it_costs_and_how_it_could_be_wrong(page):
    text = text_of(page)

    assert text.startswith(f"# {int(page.name[:4])}. ")
    assert re.findall(r"^## (.*)$", text, re.M) == [
        "Where we stood",
        "What we decided",
        "What else we looked at",
        "What it costs",
        "How we would notice that it is wrong",
    ]
    assert re.search(r"^Accepted \d{4}-\d\d-\d\d\.$", text, re.M)


def test_every_decision_that_the_code_cites_is_there():
    numbers = {page.name[:4] for page in ADRS}

    for module in (ROOT / "capture_consumer").rglob("*.py"):
        for cited in re.findall(r"adr/(\d{4})", text_of(module)):
            assert cited in numbers, module


def test_the_changelog_keeps_its_form():
    text = text_of(ROOT / "CHANGELOG.md")

    assert "## [Unreleased]" in text
    assert set(re.findall(r"^### (.*)$", text, re.M)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security",
    }  # fmt: skip


def test_the_readme_names_the_two_commands_that_do_everything():
    text = text_of(ROOT / "README.md")

    assert "scripts/demo" in text
    assert "scripts/test" in text
    assert text.count("\n") < 80, "it is short"
