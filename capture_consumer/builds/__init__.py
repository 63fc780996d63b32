"""What a build is: pure decisions over plain data.

Read `phases` for how a build moves, `facts` for what can be known and
`effects` for what can be asked for (`rows`, `views`, `content`, `capturing` and
`opening` are their parts); the others decide one thing each.

This room says never "now": an instant that a decision needs is a fact. It
knows no table, no file, no process and no network.
"""

__all__: list[str] = []
