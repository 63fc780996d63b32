"""Visual tests of Storybooks: a job consumer that never loses a build.

Begin at `docs/architecture.md`. Nothing is imported here, so that a health
probe or a supervisor that needs the version pays for nothing else.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
