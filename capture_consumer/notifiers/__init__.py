"""Plug-ins of the outbox: the only way out to the network. None yet."""

__all__: list[str] = []
