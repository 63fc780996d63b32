"""The cellar: bytes by the hash of their content."""

__all__: list[str] = []
