"""Processes: started, watched, buried, replaced, led out; knows ipc and nothing else of ours.

Read `supervisor.Supervisor.turn` first: it is the loop. `plan` says what to run.

- `crew`, `child`: the children by slot; how one is started, heard and told
- `watch`, `death`, `ends`, `debris`: a death, step by step, and which kind of end it was
- `spool`, `booking`, `earlier`: what the clerk has to know, also of earlier lives
- `restart`, `drain`, `hung`, `suspects`, `recycle`: decisions over plain data
- `upkeep`, `leaving`: those decisions carried out
- `health_file`, `health`, `says`, `signals`, `state`, `memory`: what their names say

Standard library only, one thread, no database: what keeps others alive must be small.
"""

__all__: list[str] = []
