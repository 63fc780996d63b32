"""Which kind of end a death was: section 6, row by row."""

import signal

import pytest

from capture_consumer.supervisor.ends import Evidence, classify, text_of
from capture_consumer.supervisor.watch import Exit

SEGV, KILL, ABRT = signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT

ROWS = {
    "a signal": (Evidence(Exit(signal=SEGV), holding=True), "crashed", "crashed"),
    "another exit code": (Evidence(Exit(code=11), holding=True), "crashed", "crashed"),
    "exit 0": (Evidence(Exit(code=0), holding=True), "crashed", "crashed"),
    "exit 75 without a word": (Evidence(Exit(code=75), holding=True), "crashed", "crashed"),
    "exit 75, lost": (Evidence(Exit(code=75), holding=True, bye="lost"), "lost", "lost"),
    "exit 75, unsettled": (
        Evidence(Exit(code=75), holding=True, bye="unsettled"),
        "lost",
        "unsettled",
    ),
    "lost, but killed by a signal": (
        Evidence(Exit(signal=SEGV), holding=True, bye="lost"),
        "crashed",
        "crashed",
    ),
    "stolen": (Evidence(Exit(), holding=True), "crashed", "unknown"),
    "the kernel, for memory": (
        Evidence(Exit(signal=KILL), holding=True, oom_before=0, oom_after=1),
        "crashed",
        "oom",
    ),
    "a kill, and no counter moved": (
        Evidence(Exit(signal=KILL), holding=True, oom_before=1, oom_after=1),
        "crashed",
        "crashed",
    ),
    "a fault while a counter moved": (
        Evidence(Exit(signal=SEGV), holding=True, oom_before=0, oom_after=1),
        "crashed",
        "crashed",
    ),
    "us, for memory": (
        Evidence(Exit(signal=KILL), holding=True, killed="memory"),
        "timed_out",
        "memory",
    ),
    "us, as hung, while a counter moved": (
        Evidence(Exit(signal=KILL), holding=True, killed="hung", oom_before=0, oom_after=1),
        "timed_out",
        "hung",
    ),
    "us, at a drain": (
        Evidence(Exit(signal=KILL), holding=True, killed="drain"),
        "released",
        "drained",
    ),
    "its own last resort": (
        Evidence(Exit(code=1), holding=True, trace_says="timeout"),
        "timed_out",
        "hung",
    ),
    "a dump in the trace, then another end": (
        Evidence(Exit(signal=SEGV), holding=True, trace_says="timeout"),
        "crashed",
        "crashed",
    ),
    "nothing in hand": (Evidence(Exit(signal=SEGV), holding=False), "released", "not_begun"),
}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_death_ends_the_attempt_with_the_word_of_its_row(row):
    """SUP-37, SUP-19, SUP-32, R4, R35."""
    seen, word, code = ROWS[row]

    end = classify(seen)

    assert (end.word, end.code) == (word, code)


TEXTS = {
    "consumer killed by SIGSEGV in story card--huge": Evidence(
        Exit(signal=SEGV), holding=True, story="card--huge", step="shard"
    ),
    "consumer exited with code 11 in reduce": Evidence(
        Exit(code=11), holding=True, step="reduce"
    ),
    "consumer exited 0 while holding the job": Evidence(Exit(code=0), holding=True),
    "consumer killed by SIGKILL (out of memory: the group's counter rose from 0 to 1; "
    "peak 1 412 MiB)": Evidence(
        Exit(signal=KILL), holding=True, oom_before=0, oom_after=1, peak_rss=1412 * 1024 * 1024
    ),
    "consumer killed by SIGKILL": Evidence(Exit(signal=KILL), holding=True),
    "consumer hung in story spinner, no progress for 135 s: killed by SIGABRT by us": Evidence(
        Exit(signal=ABRT), holding=True, killed="hung", story="spinner", silent_s=135.2
    ),
    "consumer killed by signal 40": Evidence(Exit(signal=40), holding=True),
}


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_the_text_says_what_was_seen_and_no_more(text):
    """SUP-32."""
    seen = TEXTS[text]

    assert text_of(seen, classify(seen)) == text
