"""The paper: facts in, HTML out."""

__all__: list[str] = []
