"""Builds as they are read: rows of `builds` with their project and lane, as facts."""
