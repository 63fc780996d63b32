"""One file a change of the schema: expand in one release, contract in the next."""

__all__: list[str] = []
