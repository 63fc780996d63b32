"""Plug-ins of the inbox: what a code host says, in our words. None yet."""

__all__: list[str] = []
