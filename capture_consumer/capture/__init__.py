"""The camera: one story of a Storybook to one picture.

Read `shutter.Camera.take` first. What it uses, each readable alone:

- `browser`, `flags`, `environment`: which Chromium, how it is started, what it draws with
- `launch`, `watchdog`: its processes, by pid; what is done when one does not answer
- `storybook`, `strictly`: the index, read without trust; addresses of stories
- `server`, `guard`: the site's own origin, and the only way out of it
- `page`, `witness`, `freeze`, `scripts/`: the one page, what it says, what is set before it
- `exposure`, `stillness`, `limits`: shown, held still, taken, looked at again

This room knows no job, no baseline and no store.
"""

__all__: list[str] = []
