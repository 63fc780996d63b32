"""The room machine. Still to be furnished."""

__all__: list[str] = []
