"""What needs no browser: folders of pictures, and kinds of jobs of somebody's own."""

from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from capture_consumer.clock import WallClock
from capture_consumer.database.transaction import transaction
from capture_consumer.tables import jobs
from tests.whole.house import House, outcomes_of, wait_for

pytestmark = [pytest.mark.processes, pytest.mark.slow, pytest.mark.timeout(200)]

MANY = 1_000


def pictures(folder: Path, **colours: str) -> str:
    """Write a folder of small pictures, one of each name and colour."""
    (folder / "deep").mkdir(parents=True)
    for name, colour in colours.items():
        Image.new("RGB", (40, 30), colour).save(folder / "deep" / f"{name}.png")
    return str(folder)


def test_folders_of_pictures_come_to_a_verdict(house: House) -> None:
    """BUILD-6, BUILD-18, BUILD-44, C-31."""
    first = pictures(house.folder / "one", same="red", other="blue", gone="green")
    second = pictures(house.folder / "two", same="red", other="navy", added="white")
    torn = house.folder / "two" / "deep" / "torn.png"
    torn.write_bytes(Path(first, "deep", "same.png").read_bytes()[:60])

    house.start(consumers=1)
    house.run("submit", first, "--project", "pictures")
    house.run("submit", second, "--project", "pictures", code=3)
    told = house.show("pictures/2")

    assert outcomes_of(told) == {
        "deep/same": "unchanged",
        "deep/other": "changed",
        "deep/gone": "removed",
        "deep/added": "new",
        "deep/torn": "errored",
    }
    assert told["verdict"] == "broken"


def test_four_consumers_race_for_a_thousand_jobs_and_each_runs_once(house: House) -> None:
    """JOB-37, JOB-48, S1, S3, Q-2, Q-53."""
    notes = house.folder / "notes"
    house.environ |= {
        "CAPTURE_TEST_NOTES": str(notes),
        "CAPTURE_HANDLERS": "tests.whole.kinds:KINDS",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    house.run("builds", code=None)  # opens the database, which makes it on SQLite
    house.start(consumers=4)
    wait_for(
        lambda: sum(one["phase"] == "idle" for one in house.health()["slots"]) == 4,
        "four idle consumers",
    )
    with transaction(house.engine) as tx:
        for number in range(MANY):
            jobs.enqueue(tx, job_id=f"note:{number}", kind="note", now=WallClock().now())

    open_ones = "SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')"
    wait_for(lambda: house.rows(open_ones)[0][0] == 0, "the end of all jobs")
    lines = [line.split() for line in notes.read_text(encoding="utf-8").splitlines()]

    assert Counter(line[0] for line in lines) == {f"note:{n}": 1 for n in range(MANY)}
    assert {line[1] for line in lines} == {"1"}
    assert len({line[2] for line in lines}) >= 4, "a consumer is replaced after 200 jobs"
    assert Counter(house.ends("note:%")) == {"done": MANY}
    assert house.stop() == 0
