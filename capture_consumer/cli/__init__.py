"""The front door: commands for CI and for people."""

__all__: list[str] = []
