"""CI's side: what git and the CI's environment say about a build, and what is sent of it.

- `git`: commit, branch, the history above it
- `ci`: what the CI's environment adds: pull request, base, run
- `facts`: the two put together, with what a person gave on top
- `upload`: a folder's files, checked before anything is written, then hashed and stored

This room knows no database and no store: a function that stores is handed to it.
"""

__all__: list[str] = []
