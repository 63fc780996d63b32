"""Kinds of jobs for tests, named to consumers by their import path."""

import os
from typing import Any

from capture_consumer.consumer.job import ConsumerJob, Hold, KindHandler

__all__ = ["KINDS"]


def note(job: ConsumerJob, _hold: Hold[Any]) -> tuple[()]:
    """Add one line to a file: which job ran, at which attempt, in which process."""
    line = f"{job.job_id} {job.attempt} {os.getpid()}\n".encode()
    fd = os.open(os.environ["CAPTURE_TEST_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)
    return ()


KINDS = {"note": KindHandler(note)}
