"""The paper: facts in, HTML out.

`builds` says what a page about a build holds, `album` where its pictures come from,
`render` makes HTML of it, `report` writes it all into a folder.
"""

__all__: list[str] = []
