"""One module a table: its declaration and every statement on it."""

__all__: list[str] = []
