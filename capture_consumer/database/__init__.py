"""Connections, transactions, column types, migrations."""

__all__: list[str] = []
