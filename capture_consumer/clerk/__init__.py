"""The light process: books first, then everything that is due by the clock.

Read `clerk` for what runs beside what; `books` ends the attempts of dead
consumers, `sweep` reaps lost hosts and does the chores. It captures nothing.
"""

__all__: list[str] = []
