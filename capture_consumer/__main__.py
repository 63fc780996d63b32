"""The room __main__. Still to be furnished."""

__all__: list[str] = []
