"""The plan of a folder of screenshots: each PNG is a snapshot, taken already (BUILD-6)."""

from collections.abc import Mapping, Sequence

from capture_consumer.builds.effects import Effects, KeepContent, PlannedSnapshot, StoredImage
from capture_consumer.builds.facts import FileFact, ImageFact
from capture_consumer.builds.identity import (
    BROWSER_OF_IMAGES,
    MODE_OF_IMAGES,
    story_of_path,
)
from capture_consumer.consumer.job import Hold
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.errors import BadInput, Interrupted, InvalidImage, PermanentError
from capture_consumer.handlers.capture.tools import Blobs
from capture_consumer.images.decode import decode
from capture_consumer.images.fingerprint import pixel_sha

__all__ = ["pictures_of", "read_pictures"]

EXTENSION = ".png"


def pictures_of(files: Sequence[FileFact]) -> dict[str, FileFact]:
    """Return the pictures among the files by story id.

    Raises:
        PermanentError: `no_stories`, `duplicate_name` naming both files, or `bad_name`.
    """
    found: dict[str, FileFact] = {}
    for file in files:
        if not file.path.lower().endswith(EXTENSION):
            continue
        try:
            story_id = story_of_path(file.path)
        except BadInput as error:
            raise PermanentError("bad_name", f"{file.path[:80]!r}: {error}") from error
        twin = found.setdefault(story_id, file)
        if twin is not file:
            raise PermanentError(
                "duplicate_name", f"{twin.path} and {file.path} are one and the same story."
            )
    if not found:
        raise PermanentError("no_stories", "There is no PNG file in the folder.")
    return found


def read_pictures(
    store: Blobs,
    pictures: Mapping[str, FileFact],
    known: Mapping[str, ImageFact],
    hold: Hold[Effects],
) -> tuple[tuple[PlannedSnapshot, ...], KeepContent]:
    """Return the snapshots of a folder, captured or errored at once (BUILD-44).

    Args:
        store: where the files are.
        pictures: the files by story id.
        known: pictures that were decoded before, by the hash of their file.
        hold: touched for each picture.

    Raises:
        Interrupted: the hold is to be let go.
    """
    snapshots: list[PlannedSnapshot] = []
    images: dict[str, StoredImage] = {}
    for story_id, file in sorted(pictures.items()):
        if hold.stop_soon.why is not None:
            raise Interrupted(hold.stop_soon.why)
        hold.touch()
        seen = known.get(file.sha)
        try:
            image = _of(seen, file) if seen else _decoded(store, file)
        except InvalidImage as error:
            snapshots.append(_unusable(story_id, file, error))
            continue
        images[image.pixel_sha] = image
        snapshots.append(_snapshot(story_id, file, image))
    return tuple(snapshots), KeepContent(images=tuple(images.values()))


def _of(seen: ImageFact, file: FileFact) -> StoredImage:
    return StoredImage(seen.pixel_sha, seen.blob_sha, seen.width, seen.height, file.bytes)


def _decoded(store: Blobs, file: FileFact) -> StoredImage:
    picture = decode(store.get(file.sha))
    return StoredImage(pixel_sha(picture), file.sha, picture.width, picture.height, file.bytes)


def _snapshot(story_id: str, file: FileFact, image: StoredImage) -> PlannedSnapshot:
    return PlannedSnapshot(
        story_id=story_id,
        mode=MODE_OF_IMAGES,
        browser=BROWSER_OF_IMAGES,
        title=safe_text(file.path),
        shard_idx=None,
        state="captured",
        pixel_sha=image.pixel_sha,
    )


def _unusable(story_id: str, file: FileFact, error: InvalidImage) -> PlannedSnapshot:
    return PlannedSnapshot(
        story_id=story_id,
        mode=MODE_OF_IMAGES,
        browser=BROWSER_OF_IMAGES,
        title=safe_text(file.path),
        shard_idx=None,
        state="errored",
        error_code=error.code,
        message=safe_text(str(error)),
    )
