"""The room metrics. Still to be furnished."""

__all__: list[str] = []
