"""Logs: lines that machines can read and people may see."""

import io
import json

import pytest
import structlog

from capture_consumer.logs import clean, set_up


@pytest.fixture
def lines():
    """Return where log lines go; structlog is as it was afterwards."""
    stream = io.StringIO()
    set_up(log_format="json", log_level="info", stream=stream)
    yield stream
    structlog.reset_defaults()


def test_a_line_is_one_json_object_with_time_level_and_event_first(lines):
    structlog.get_logger().info("settled", job="shard:1:0", attempt=2)

    told = json.loads(lines.getvalue())

    assert list(told)[:3] == ["timestamp", "level", "event"]
    assert (told["level"], told["event"], told["attempt"]) == ("info", "settled", 2)


def test_what_is_bound_stands_in_each_line(lines):
    with structlog.contextvars.bound_contextvars(job="plan:7"):
        structlog.get_logger().info("claimed")

    assert json.loads(lines.getvalue())["job"] == "plan:7"


def test_events_below_the_level_are_not_written(lines):
    structlog.get_logger().debug("looked")

    assert lines.getvalue() == ""


@pytest.mark.parametrize(
    "name", ["token", "password", "api_key", "Authorization", "set_cookie"]
)
def test_a_value_with_a_secret_s_name_is_masked_at_any_depth(lines, name):
    structlog.get_logger().info("sent", headers={name: "abc123"})

    assert "abc123" not in lines.getvalue()


def test_a_password_inside_an_address_is_masked(lines):
    structlog.get_logger().warning("away", error="cannot reach postgresql://u:abc123@db/x now")

    assert "abc123" not in lines.getvalue()
    assert "postgresql://u:***@db/x" in lines.getvalue()


@pytest.mark.parametrize("bad", ["\0", "\ud800", "\x1b[2J", "\u202e", "\x85", "\u2028"])
def test_no_text_of_a_story_can_break_or_bend_a_line(lines, bad):
    structlog.get_logger().info("captured", story=f"a{bad}b")

    text = lines.getvalue()

    assert text.count("\n") == 1
    assert bad not in json.loads(text)["story"]
    text.encode("utf-8")


def test_a_line_is_at_most_4096_bytes_and_still_json(lines):
    """SUP-93."""
    structlog.get_logger().info("failed", error="ä" * 9_000, more={"deep": ["x" * 9_000]})

    text = lines.getvalue()

    assert len(text.encode()) <= 4_096
    assert json.loads(text)["event"] == "failed"


def test_of_a_long_traceback_the_end_is_kept(lines):
    def deep(count):
        return deep(count - 1) if count else 1 / 0

    try:
        deep(60)
    except ZeroDivisionError:
        structlog.get_logger().exception("broke")

    assert json.loads(lines.getvalue())["exception"].endswith(
        "ZeroDivisionError: division by zero"
    )


def test_for_people_the_event_stands_in_a_plain_line():
    stream = io.StringIO()
    set_up(log_format="console", log_level="info", stream=stream)

    structlog.get_logger().info("settled", job="plan:1")
    structlog.reset_defaults()

    assert "settled" in stream.getvalue()
    assert "\x1b[" not in stream.getvalue()


def test_clean_leaves_ordinary_text_alone():
    assert clean("Knöpfe/größe 日本 🎉\tok\n") == "Knöpfe/größe 日本 🎉\tok\n"
