"""The HTTP API of a server. It has no route yet."""

__all__: list[str] = []
