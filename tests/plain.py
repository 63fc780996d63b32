"""Rows as plain data, for tests that need no database."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from PIL import Image

from capture_consumer.builds.facts import (
    BuildFact,
    BuiltFact,
    ImageFact,
    KeyFact,
    ProjectFact,
    SnapshotFact,
)
from capture_consumer.builds.identity import DEFAULT_MODE

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
A_BUILD = BuildFact(
    id=1,
    project=ProjectFact(1, "shop"),
    number=1,
    name="default",
    kind="storybook",
    lane_id=1,
    ref="main",
    commit_sha="c1",
    head_sha="c1",
    branch="main",
    pull=None,
    base_branch="main",
    pinned_base=None,
    subset=False,
    trusted=True,
    retry_of=None,
    superseded_by=None,
    phase="reducing",
    verdict=None,
    rev=1,
    error_code=None,
    error_text=None,
    environment="env",
    manifest_sha=None,
    counts={},
    created_at=AT,
    pending_at=AT,
    finished_at=None,
)


def a_build(**values: Any) -> BuildFact:
    """Return a build with these values."""
    return replace(A_BUILD, **values)


def a_project(**values: Any) -> ProjectFact:
    """Return a project with these values."""
    return replace(A_BUILD.project, **values)


def an_image(number: int) -> ImageFact:
    """Return an image; equal numbers are equal pixels."""
    return ImageFact(number, f"pixels-{number}", f"blob-{number}", 8, 8)


def a_key(number: int, story: str = "story") -> KeyFact:
    """Return a key in the default mode."""
    return KeyFact(number, story, DEFAULT_MODE.canonical, "chromium")


def a_snapshot(**values: Any) -> SnapshotFact:
    """Return a snapshot that is captured, of key 1, unless told otherwise."""
    plain = SnapshotFact(
        id=1,
        key=a_key(1),
        shard_id=1,
        title="Story",
        state="captured",
        flaky=False,
        image=None,
        baseline=None,
        error_code=None,
        message=None,
    )
    return replace(plain, **values)


def a_built(number: int, commit: str | None = None, **values: Any) -> BuiltFact:
    """Return a finished build that stands on a commit; later numbers finished later."""
    finished_at = AT.replace(minute=number % 60, hour=number // 60)
    plain = BuiltFact(
        build_id=number,
        number=number,
        commit_sha=commit,
        branch="main",
        pull=None,
        trusted=True,
        manifest_sha=f"map-{number}",
        finished_at=finished_at,
    )
    return replace(plain, **values)


def a_png(colour: int, size: tuple[int, int] = (8, 8)) -> bytes:
    """Return a PNG of one grey."""
    file = io.BytesIO()
    Image.new("RGB", size, (colour, colour, colour)).save(file, "PNG")
    return file.getvalue()
