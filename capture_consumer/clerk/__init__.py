"""The light process: books, sweeps and chores."""

__all__: list[str] = []
