"""Facts out of the tables, effects into them."""

__all__: list[str] = []
