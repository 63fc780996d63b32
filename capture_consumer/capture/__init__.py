"""The camera: one story of a Storybook to one picture."""

__all__: list[str] = []
