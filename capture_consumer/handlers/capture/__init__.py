"""The kind capture: plan, shard, reduce."""

__all__: list[str] = []
