"""The tables `posts` and `post_gates`: what is still owed to code hosts and chat."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
)

from capture_consumer.database.columns import METADATA, Instant, partial_index
from capture_consumer.tables.outside_systems import outside_systems

__all__ = ["post_gates", "posts"]

posts = Table(
    "posts",
    METADATA,
    Column("system", Text, ForeignKey(outside_systems.c.system), primary_key=True),
    Column("post_id", Text, primary_key=True, comment="fixed by what it is about"),
    Column("workspace", Text, nullable=False, comment="installation, group, team"),
    Column("container", Text, nullable=False, comment="sends one post at a time (POST-23)"),
    Column("thread", Text),
    Column("kind", Text, nullable=False),
    Column(
        "body", Text, nullable=False, comment="canonical JSON; {} once it is over (POST-56)"
    ),
    Column("turn_key", Text),
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("state", Text, nullable=False, server_default="queued"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("claim_no", Integer, nullable=False, server_default="0", comment="the fence"),
    Column("queued_at", Instant, nullable=False, comment="its place in the queue"),
    Column("next_at", Instant, nullable=False, comment="due, or lease end while sending"),
    Column("updated_at", Instant, nullable=False),
    Column("message_ref", Text, comment="the message's id over there"),
    Column("code", Text),
    Column("error", Text),
    CheckConstraint(
        "kind IN ('message', 'status', 'reaction', 'ephemeral')", name="post_kind_is_known"
    ),
    CheckConstraint(
        "state IN ('queued', 'sending', 'posted', 'failed', 'uncertain', 'cancelled')",
        name="post_state_is_known",
    ),
    partial_index(
        "posts_open",
        "system",
        "workspace",
        "container",
        "queued_at",
        "post_id",
        where="state IN ('queued', 'sending')",
    ),
    partial_index(
        "posts_one_sending",
        "system",
        "workspace",
        "container",
        where="state = 'sending'",
        unique=True,
    ),
    partial_index("posts_of_turn", "turn_key", where="turn_key IS NOT NULL"),
    comment="What is to be said outside, and what became of it (POST-1)",
)

post_gates = Table(
    "post_gates",
    METADATA,
    Column("system", Text, ForeignKey(outside_systems.c.system), primary_key=True),
    Column("credential", Text, primary_key=True, comment="a name, never the secret"),
    Column("not_before", Instant, nullable=False),
    comment="Until when a credential may not send (POST-31)",
)
