"""The window: HTTP for clients and for people. It has no route yet."""

__all__: list[str] = []
