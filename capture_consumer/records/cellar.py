"""The one store that a database's hashes are found in (R25).

Whoever opens the first build records it. A process that is given another store would
split a project's pictures over two, so it is refused before it writes anything.
"""

from datetime import datetime
from pathlib import Path

from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import Tx, again, reading
from capture_consumer.errors import BadInput, StoreMismatch
from capture_consumer.storage import open_store
from capture_consumer.storage.store import Store
from capture_consumer.tables import audit, blobs

__all__ = ["move", "name_of", "open_cellar", "record", "recorded"]

LOOKED_AT = 20


def open_cellar(store_url: str, engine: Engine) -> Store:
    """Return the store at this address, if it is the database's or none is recorded yet.

    Raises:
        BadInput: there is no store of this kind.
        StoreMismatch: the database's pictures are in another one.
    """
    store = open_store(store_url)
    with reading(engine) as tx:
        refuse_other(blobs.store_url(tx), store, engine)
    return store


def record(tx: Tx, store: Store, *, now: datetime) -> None:
    """Write down the store of the database's first build; later ones must be in it.

    Raises:
        StoreMismatch: another one stands there; roll back.
    """
    name = name_of(store, tx.engine)
    known = blobs.store_url(tx) or blobs.record_store(tx, name, now=now)
    refuse_other(known, store, tx.engine)


def recorded(engine: Engine) -> str | None:
    """Return the address of the database's store; None before its first build."""
    with reading(engine) as tx:
        name = blobs.store_url(tx)
    return None if name is None else address_of(name, engine)


def move(engine: Engine, store: Store, *, who: str, now: datetime) -> None:
    """Say that the store is at another address now, and write down who said so (COM-16).

    Raises:
        BadInput: the newest pictures are not there.
    """
    with reading(engine) as tx:
        newest = blobs.newest(tx, limit=LOOKED_AT)
    absent = [sha for sha in newest if not store.has(sha)]
    if absent:
        raise BadInput(
            f"{store.url} lacks {len(absent)} of the {len(newest)} newest pictures and files: "
            "move the whole folder there first"
        )

    def write(tx: Tx) -> None:
        name = name_of(store, engine)
        before = blobs.store_url(tx)
        blobs.move_store(tx, name, now=now)
        audit.add(
            tx,
            who=who,
            action="move_store",
            subject="store:1",
            from_state=before,
            to_state=name,
            now=now,
        )

    again(engine, write)


def name_of(store: Store, engine: Engine) -> str:
    """Return how the database calls a store: by its address, or by its place beside the file.

    So a folder that holds both, as `.capture/` does, can be moved without a word.
    """
    return store.url.removeprefix(beside(engine))


def address_of(name: str, engine: Engine) -> str:
    """Return the address that a recorded name stands for."""
    return name if "://" in name else beside(engine) + name


def beside(engine: Engine) -> str:
    """Return the address of an SQLite file's folder, or what no address begins with."""
    if engine.dialect.name != "sqlite":
        return "nowhere:"
    return f"{Path(engine.url.database or '').absolute().parent.as_uri()}/"


def refuse_other(known: str | None, store: Store, engine: Engine) -> None:
    """Refuse a store that is not the recorded one.

    Raises:
        StoreMismatch: it is another one; the text says what to do.
    """
    if known in {None, name_of(store, engine)}:
        return
    assert known is not None
    raise StoreMismatch(
        f"this database's pictures are in {address_of(known, engine)}, and CAPTURE_STORE is "
        f"{store.url}: set it right, or after moving the folder run: "
        f"capture-consumer db store {store.url}"
    )
