"""Plug-ins of jobs: a file or folder a kind, a file a step."""

__all__: list[str] = []
