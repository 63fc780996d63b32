"""One module a table: its declaration and every statement on it.

All are imported here, so that `METADATA` is whole for whoever makes or
compares a schema. Tables are layered in the order in which rows are locked:

    source < project < blob < image < key < comparison < lane < build < shard
    < snapshot < job < attempt < post < event rows

Statements take the caller's transaction, losing a race is None or False, and
rows leave as frozen dataclasses.
"""

from capture_consumer.tables import (
    attempts,
    audit,
    blobs,
    build_views,
    builds,
    chores,
    commits,
    comparisons,
    images,
    inbox_events,
    jobs,
    keys,
    lanes,
    lifecycle_events,
    outside_systems,
    posts,
    projects,
    reviews,
    shards,
    snapshot_views,
    snapshots,
    sources,
    supervisors,
    tries,
    uploads,
)

__all__ = [
    "attempts",
    "audit",
    "blobs",
    "build_views",
    "builds",
    "chores",
    "commits",
    "comparisons",
    "images",
    "inbox_events",
    "jobs",
    "keys",
    "lanes",
    "lifecycle_events",
    "outside_systems",
    "posts",
    "projects",
    "reviews",
    "shards",
    "snapshot_views",
    "snapshots",
    "sources",
    "supervisors",
    "tries",
    "uploads",
]
