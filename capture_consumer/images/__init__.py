"""The eye: bytes in, numbers out."""

__all__: list[str] = []
