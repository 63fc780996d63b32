"""The room settings. Still to be furnished."""

__all__: list[str] = []
