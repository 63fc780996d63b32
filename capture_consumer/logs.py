"""The room logs. Still to be furnished."""

__all__: list[str] = []
