"""Alembic's migrations: `env` says how they run, `versions` holds one file a change."""

__all__: list[str] = []
