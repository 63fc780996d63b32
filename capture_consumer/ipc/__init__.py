"""The wire between supervisor and child: standard library only.

Read `channel` first: it is the child's whole side. The other files:

- `control`: the child's control thread, which hears orders and beats
- `frames`: bytes of a pipe to frames and back, torn frames told from whole ones
- `messages`: the words of both directions, one dataclass each
- `wire`: messages to frames and back
- `slot`: the black box, a mapped file that outlives the process
- `identity`: which process is meant, also after its number was given to another

This room knows no job, no build and no database; it carries their names.
"""

__all__: list[str] = []
