"""The plan of a Storybook: which stories in which modes, and what is wrong with which.

BUILD-26, BUILD-27, BUILD-29.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from capture_consumer.builds.effects import PlannedSnapshot
from capture_consumer.builds.facts import FileFact, ProjectFact
from capture_consumer.builds.identity import Mode, modes_of
from capture_consumer.capture.storybook import Entry, index_file, read_index
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.errors import PermanentError
from capture_consumer.handlers.capture.tools import BROWSER, Blobs

__all__ = ["snapshots_of"]

SKIP_TAG = "skip-visual"
SNAPSHOTS_MAX = 20_000


def snapshots_of(
    store: Blobs, files: Sequence[FileFact], project: ProjectFact
) -> tuple[PlannedSnapshot, ...]:
    """Return a snapshot for each story and mode, those that cannot be captured `errored`.

    Raises:
        PermanentError: the upload is at fault: `bad_index`, `no_stories`, `duplicate_id`,
            `too_many`; or the project's settings are.
    """
    by_path = {file.path: file for file in files}
    index = index_file(by_path)
    if index is None:
        raise PermanentError(
            "bad_index", "There is no index.json in the folder: is it a built Storybook?"
        )
    entries = read_index(store.get(by_path[index].sha)).entries
    wanted = [entry for entry in entries if _is_wanted(entry, project.capture)]
    modes = modes_of(project.modes)
    if not wanted:
        raise PermanentError("no_stories", "Tags and patterns leave no story to capture.")
    if len(wanted) * len(modes) > SNAPSHOTS_MAX:
        raise PermanentError(
            "too_many",
            f"{len(wanted)} stories in {len(modes)} modes are more than {SNAPSHOTS_MAX}.",
        )
    return tuple(_planned(entry, mode) for entry in wanted for mode in modes)


def _is_wanted(entry: Entry, settings: Mapping[str, Any]) -> bool:
    skipped = {SKIP_TAG, *settings.get("skip_tags", ())}
    if skipped & set(entry.tags):
        return False
    include, exclude = settings.get("include", ("*",)), settings.get("exclude", ())
    return any(fnmatchcase(entry.id, pattern) for pattern in include) and not any(
        fnmatchcase(entry.id, pattern) for pattern in exclude
    )


def _planned(entry: Entry, mode: Mode) -> PlannedSnapshot:
    title = " / ".join(part for part in (entry.title, entry.name) if part) or entry.id
    return PlannedSnapshot(
        story_id=entry.id,
        mode=mode.canonical,
        browser=BROWSER,
        title=safe_text(title),
        shard_idx=None,
        state="planned" if entry.problem is None else "errored",
        error_code=None if entry.problem is None else "bad_entry",
        message=None if entry.problem is None else safe_text(entry.problem),
    )
