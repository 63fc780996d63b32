"""The room wiring. Still to be furnished."""

__all__: list[str] = []
