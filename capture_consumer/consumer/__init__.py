"""How any row is claimed, worked on and settled, whatever the row is about.

Read `work.work` first: it is the whole flow on one screen. The other files
are the parts it uses, each of which can be read alone:

- `queue`: the four verbs in which one queue differs from another
- `job`: what a consumer of jobs is handed, and the shape of its handlers
- `outcome`: how work can end
- `context`: a handler's view of its claim
- `lease`: keeps the claim alive by touching it, but not too often
- `budget`, `retry`: what an end costs, and how long to wait after it
- `cadence`, `poll`: call `work` again and again until asked to stop

This room knows no table, no kind of job and no build. It never will.
"""

__all__: list[str] = []
