"""Every error that crosses a room's border, with its code word (COM-8).

An error's name is what happened. `code` goes to rows and logs, `str()` to a
person; whoever needs a detail reads a field, never the text.
"""

import re

__all__ = [
    "BadInput",
    "BrowserDied",
    "BrowserUnusable",
    "CaptureConsumerError",
    "DatabaseAway",
    "Interrupted",
    "InvalidImage",
    "LeaseLost",
    "NotFound",
    "NotNow",
    "PermanentError",
    "Refused",
    "SchemaMismatch",
    "SettingsInvalid",
    "StoreMismatch",
    "StoreUnusable",
    "Unsettled",
    "code_of",
]

CODE_WORD = re.compile(r"^[a-z][a-z0-9_]{0,63}$")


class CaptureConsumerError(Exception):
    """What all errors of ours have in common: a code word and one line for a person."""

    code = "error"


class BadInput(CaptureConsumerError):
    """What was handed to a command cannot be used; nothing was written."""

    code = "bad_input"


class BrowserUnusable(CaptureConsumerError):
    """There is no browser, or it does not start. A process that captures exits 78."""

    code = "browser_unusable"


class BrowserDied(CaptureConsumerError):
    """The page or its browser is gone while a story was in hand (BUILD-46).

    Raised by the camera, which has cleaned up after it: the next call starts a new browser.
    """

    code = "browser_died"


class DatabaseAway(CaptureConsumerError):
    """The database did not answer within its deadlines."""

    code = "database_unreachable"


class Interrupted(CaptureConsumerError):
    """The hold of a job is to be let go: drain, cancel or loss. Stop at the next safe place.

    Raised by `JobContext.begin` and `JobContext.save`. A handler may save what it has,
    then lets it pass; the queue knows what to write.
    """

    code = "interrupted"

    def __init__(self, why: str) -> None:
        super().__init__(f"asked to stop: {why}")
        self.why = why


class InvalidImage(CaptureConsumerError):
    """These bytes are not a picture we accept; the text says why (CAP-27)."""

    code = "invalid_image"


class LeaseLost(CaptureConsumerError):
    """Somebody else holds the row now, or we can no longer prove that we do.

    Raised by touch and save. Stop at once and write nothing: the next holder may have
    begun, and the fence would refuse the write anyway.
    """

    code = "lease_lost"

    def __init__(self, *, queue: str, key: str, attempt: int) -> None:
        super().__init__(f"{queue} {key}: attempt {attempt} is no longer ours")
        self.queue = queue
        self.key = key
        self.attempt = attempt


class NotFound(CaptureConsumerError):
    """There is no such build, project, story or job."""

    code = "not_found"


class NotNow(CaptureConsumerError):
    """The job has to wait for somebody else: give it back uncounted, due after `delay_ms` (R3).

    Raised by handlers.
    """

    def __init__(self, code: str, text: str, *, delay_ms: int = 60_000) -> None:
        super().__init__(text)
        self.code = code
        self.delay_ms = delay_ms


class PermanentError(CaptureConsumerError):
    """No further attempt can help: the job ends for good (JOB-91). Raised by handlers."""

    def __init__(self, code: str, text: str) -> None:
        assert CODE_WORD.match(code), code
        super().__init__(text)
        self.code = code


class Refused(CaptureConsumerError):
    """The present state does not allow it (HTTP's 409): the text says what is there instead."""

    code = "refused"


class SchemaMismatch(CaptureConsumerError):
    """The database's tables are older or newer than this program speaks."""

    code = "schema_mismatch"


class SettingsInvalid(CaptureConsumerError):
    """One or more settings are wrong; `faults` lists all of them, one line each."""

    code = "settings_invalid"

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class StoreMismatch(CaptureConsumerError):
    """The database's pictures are in another store than the one that was set (R25)."""

    code = "store_mismatch"


class StoreUnusable(CaptureConsumerError):
    """The image store cannot be read or written: no fault of a story's (BUILD-38)."""

    code = "store_unusable"


class Unsettled(CaptureConsumerError):
    """The end of a claim could not be written in several tries within its lease (JOB-75).

    The process leaves: one that cannot reach its database does not keep a claim alive.
    """

    code = "unsettled"


def code_of(error: BaseException) -> str:
    """Return the code word of any error (COM-8): its own, a common one, else `error`."""
    own = getattr(error, "code", None)
    if isinstance(own, str) and CODE_WORD.match(own):
        return own
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ConnectionError):
        return "connection_error"
    return "error"
