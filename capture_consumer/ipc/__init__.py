"""The wire between supervisor and child: standard library only."""

__all__: list[str] = []
