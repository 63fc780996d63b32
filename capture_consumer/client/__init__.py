"""CI's side: what git and the environment say, what is sent."""

__all__: list[str] = []
