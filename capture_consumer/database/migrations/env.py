"""What Alembic asks for: run inside the transaction that `database.upgrade` has opened.

There is no alembic.ini; the connection comes with the configuration.
"""

from alembic import context

from capture_consumer.database.columns import METADATA

__all__ = ["run"]


def run() -> None:
    """Run the migrations that were asked for on the caller's connection."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        transactional_ddl=True,
        render_as_batch=True,
    )
    context.run_migrations()


run()
