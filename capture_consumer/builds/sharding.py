"""Deal stories out to shards by the time they took (BUILD-32).

Longest first into the lightest shard. What a shard may weigh is a compromise: long
enough to be worth a browser's start, short enough that idle consumers get work.
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Dealt", "deal", "weigh"]

TARGET_MS = 40_000
LEAST_MS = 5_000
SHARDS_MAX = 64
UNKNOWN_MS = 1_000.0

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Dealt:
    """Which shard each story goes to, and what each shard weighs in milliseconds."""

    shard_of: Mapping[str, int]
    weights_ms: tuple[int, ...]


def weigh(keys: Mapping[str, tuple[Key, ...]], known: Mapping[Key, float]) -> dict[str, float]:
    """Return milliseconds by story: the sum over its keys.

    A key that was never captured counts as the median of those that were, else 1 s.
    """
    usual = median(known.values()) if known else UNKNOWN_MS
    return {story: sum(known.get(key, usual) for key in ours) for story, ours in keys.items()}


def deal(weights: Mapping[str, float], *, consumers: int) -> Dealt:
    """Deal stories out; one story's keys stay together, since stories are what is dealt.

    Args:
        weights: milliseconds by story, at least one.
        consumers: how many are known to be up; at least as many shards, unless they would
            weigh under 5 s each.
    """
    assert weights
    total = sum(weights.values())
    wanted = max(math.ceil(total / TARGET_MS), consumers)
    bound = min(wanted, SHARDS_MAX, len(weights), max(1, int(total // LEAST_MS)))
    ordered = sorted(weights.items(), key=lambda one: (-one[1], one[0]))
    for count in range(bound, 1, -1):
        dealt = _into(ordered, count)
        if min(dealt.weights_ms) >= LEAST_MS:
            return dealt
    return _into(ordered, 1)


def _into(ordered: Sequence[tuple[str, float]], count: int) -> Dealt:
    loads = [(0.0, idx) for idx in range(count)]
    shard_of: dict[str, int] = {}
    for story, weight in ordered:
        load, idx = loads[0]
        shard_of[story] = idx
        heapq.heapreplace(loads, (load + weight, idx))
    by_idx = {idx: round(load) for load, idx in loads}
    return Dealt(shard_of, tuple(by_idx[idx] for idx in range(count)))
