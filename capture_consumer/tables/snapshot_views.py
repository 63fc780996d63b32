"""Snapshots as they are read."""
