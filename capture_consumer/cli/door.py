"""What a command may ask for: settings, database, store and facts, opened when asked.

Reading commands never make anything: a database that is not there is said, not created.
"""

import getpass
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from capture_consumer.errors import DatabaseAway, NotFound, StoreUnusable
from capture_consumer.settings import Settings, load, make_home, without_password

if TYPE_CHECKING:
    from capture_consumer.builds.effects import OpenBuild, OpenedBuild
    from capture_consumer.builds.facts import BuildFact
    from capture_consumer.clock import Clock
    from capture_consumer.database.engine import Engine
    from capture_consumer.database.transaction import Tx
    from capture_consumer.records.facts import RowFacts
    from capture_consumer.storage.store import Store

__all__ = ["Books", "Door", "naming"]

SAID_TWICE = re.compile(
    r"^connection failed: |connection to server (at|on) .*? failed: | Is the server running .*$"
)


@contextmanager
def naming(url: str) -> Iterator[None]:
    """Say which database it is that does not answer; the driver's own words may not.

    Raises:
        DatabaseAway: as it came, with the address and without what the driver says twice.
    """
    try:
        yield
    except DatabaseAway as error:
        why = SAID_TWICE.sub("", str(error))
        text = f"the database {without_password(url)} does not answer: {why}"
        raise DatabaseAway(text) from error


@dataclass(frozen=True, slots=True)
class Books:
    """An open database: where effects go, what the facts are, what time it is there."""

    engine: "Engine"
    facts: "RowFacts"
    clock: "Clock"

    def open_build(
        self, request: "OpenBuild", store: "Store", *, by: str | None = None
    ) -> "OpenedBuild":
        """Open a build and finalize it in one transaction (T1, T2); wake the consumers.

        Args:
            request: what to open.
            store: where its files are; recorded with the first build (R25).
            by: who retries another build by hand, to be written down (COM-16).
        """
        from capture_consumer.database.hints import JOBS, announce  # noqa: PLC0415
        from capture_consumer.database.transaction import again  # noqa: PLC0415
        from capture_consumer.records import by_hand, cellar, opening  # noqa: PLC0415

        def do(tx: "Tx") -> "OpenedBuild":
            now = self.clock.now()
            cellar.record(tx, store, now=now)
            opened = opening.open_build(tx, request, now=now)
            opening.finalize(tx, opened.build_id, now=now)
            if by is not None and opened.is_new:
                by_hand.note_retry(tx, request, opened, who=by, now=now)
            return opened

        opened = again(self.engine, do)
        announce(self.engine, JOBS)
        return opened


class Door:
    """What all commands are handed. Nothing is opened before it is asked for."""

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        self.environ = environ
        self.cwd = cwd

    @cached_property
    def settings(self) -> Settings:
        """Return the settings in force, or raise with all their faults."""
        return load(self.environ, cwd=self.cwd)

    @contextmanager
    def books(self, *, writing: bool) -> Iterator[Books]:
        """Open the database for a command; close it afterwards.

        Raises:
            DatabaseAway: it does not answer, or there is none yet and the command only reads.
            SchemaMismatch: its tables are not ours.
        """
        from capture_consumer import wiring  # noqa: PLC0415 - `--help` needs no database
        from capture_consumer.database.offset import measure  # noqa: PLC0415
        from capture_consumer.records.facts import RowFacts  # noqa: PLC0415

        if writing:
            make_home(self.settings)
        else:
            self.refuse_missing_file()
        with naming(self.settings.database_url), ExitStack() as closing:
            engine = wiring.open_database(self.settings, writing=writing)
            closing.callback(engine.dispose)
            clock = measure(engine)
            yield Books(engine, RowFacts(engine, clock), clock)

    def store(self, books: Books, *, reading: bool = False) -> "Store":
        """Return the store of this database's pictures and files.

        Raises:
            StoreMismatch: the database's are in another one (R25).
            StoreUnusable: the command only reads, and there is none.
        """
        from capture_consumer.records.cellar import open_cellar  # noqa: PLC0415

        store = open_cellar(self.settings.store_url, books.engine)
        folder = Path(unquote(urlsplit(store.url).path))
        if reading and not folder.is_dir():
            raise StoreUnusable(
                f"there is no store at {folder}: set CAPTURE_STORE to where it is"
            )
        return store

    def who(self) -> str:
        """Return who is doing this by hand: the name in git, else the user's."""
        from capture_consumer.client.git import person  # noqa: PLC0415

        return person(self.cwd) or getpass.getuser()

    def default_project(self) -> str:
        """Return the project that is meant when none is named."""
        from capture_consumer.client.facts import project_here  # noqa: PLC0415

        return self.settings.project or project_here(self.cwd, self.environ)

    def find(self, books: Books, ref: str) -> "BuildFact":
        """Return the build that a person names as `[project/]number`.

        Raises:
            NotFound: there is none.
        """
        project = None if "/" in ref else self.default_project()
        try:
            return books.facts.find(ref, project)
        except NotFound:
            alone = self._only_project(books) if project else None
            if alone is None or alone == project:
                raise
            return books.facts.find(ref, alone)

    def _only_project(self, books: Books) -> str | None:
        """Return the project of the database when it has only one."""
        slugs = {build.project.slug for build in books.facts.recent(limit=50)}
        return slugs.pop() if len(slugs) == 1 else None

    def refuse_missing_file(self) -> None:
        """Raise DatabaseAway when the database is a file that is not there yet."""
        url = self.settings.database_url
        path = Path(url.removeprefix("sqlite:///").partition("?")[0])
        if url.startswith("sqlite:") and not path.exists():
            raise DatabaseAway(
                f"there is no database at {without_password(str(path))}: submit a build first, "
                "or set CAPTURE_DATABASE_URL"
            )
