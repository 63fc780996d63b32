"""Processes: standard library only, knows ipc and nothing else of ours."""

__all__: list[str] = []
