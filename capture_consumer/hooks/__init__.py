"""Plug-ins of lifecycle: what follows from a build's state (pure)."""

__all__: list[str] = []
