"""The queues: claim, touch, perform, settle. They never import each other."""

__all__: list[str] = []
