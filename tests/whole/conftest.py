"""A house on a fresh, empty database of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from tests.whole.house import House


@pytest.fixture(params=["sqlite", "postgresql"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    """Return a house whose database has no tables yet, or has been upgraded by hand."""
    if request.param == "sqlite":
        made = House(tmp_path, f"sqlite:///{tmp_path}/capture.sqlite")
    else:
        server: str = request.getfixturevalue("postgres")
        name = f"whole_{tmp_path.name}".lower().replace("-", "_")[:60]
        root = create_engine(server, isolation_level="AUTOCOMMIT")
        with root.connect() as db:
            db.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            db.exec_driver_sql(f'CREATE DATABASE "{name}"')
        root.dispose()
        url = make_url(server).set(database=name).render_as_string(hide_password=False)
        made = House(tmp_path, url)
        made.run("db", "upgrade")
    yield made
    made.close()
