"""Write a built Storybook of a few stories: `index.json`, `iframe.html`, the channel's events.

It speaks what Storybook's preview speaks (events, phases, body classes, in their
order) in a page of script, so that a story may be as bad as a test wants it. It
stands alone: nothing of the product and nothing but the standard library is needed.

    write(folder, [still("button--primary", "<button>Save</button>"), throws("card--broken")])
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

__all__ = [
    "Story",
    "asks",
    "crashes",
    "empty",
    "hangs",
    "huge",
    "leaves",
    "moving",
    "portal",
    "slow",
    "still",
    "throws",
    "throws_in_play",
    "throws_late",
    "unfinished",
    "write",
]

HERE = Path(__file__).parent
CARD = (
    "margin:24px;padding:20px;width:280px;border:1px solid #d0d7de;border-radius:8px;"
    "font:16px sans-serif;background:#fff"
)


@dataclass(frozen=True, slots=True)
class Story:
    """One story. Its parts are script that is given `root`; each may wait and may throw.

    `load` runs before anything is drawn, `render` after `html` was put into the root,
    `play` after it is drawn, `late` two frames after the story is said to be finished.
    """

    id: str
    html: str = ""
    load: str = ""
    render: str = ""
    play: str = ""
    late: str = ""
    tags: tuple[str, ...] = ("dev", "test")
    title: str | None = None


def card(text: str, colour: str = "#0969da") -> str:
    """Return the HTML of a box with a text and a button."""
    button = f"border:0;border-radius:6px;padding:8px 16px;color:#fff;background:{colour}"
    return f'<div style="{CARD}"><p>{text}</p><button style="{button}">{text}</button></div>'


def still(story_id: str, html: str | None = None, *, colour: str = "#0969da") -> Story:
    """Return a story that is drawn at once and stays so; another colour is a change."""
    return Story(story_id, html=card(story_id, colour) if html is None else html)


def throws(story_id: str, text: str = "This story throws") -> Story:
    """Return a story that throws while it is drawn."""
    return Story(story_id, render=f"throw new Error({json.dumps(text)});")


def throws_in_play(story_id: str) -> Story:
    """Return a story whose play function throws."""
    return Story(story_id, html=card(story_id), play="throw new Error('This play throws');")


def throws_late(story_id: str) -> Story:
    """Return a story that shows an error after it was said to be finished."""
    return Story(
        story_id, html=card(story_id), late="throw new Error('This story throws late');"
    )


def hangs(story_id: str) -> Story:
    """Return a story whose page never answers again."""
    return Story(story_id, html=card(story_id), render="for (;;) {}")


def unfinished(story_id: str, part: str = "render") -> Story:
    """Return a story that waits for good in one of its parts; its page still answers."""
    return replace(still(story_id), **{part: "await new Promise(() => {});"})  # type: ignore[arg-type]


def crashes(story_id: str) -> Story:
    """Return a story that kills the process its page runs in: nested past the stack's end."""
    nest = (
        "const top = document.createElement('div'); let inner = top;"
        " for (let i = 0; i < 4000; i++) { const one = document.createElement('div');"
        " one.style.display = 'grid'; inner.append(one); inner = one; }"
        " root.append(top); root.getBoundingClientRect();"
    )
    return Story(story_id, render=nest)


def moving(story_id: str) -> Story:
    """Return a story that never looks the same for long."""
    run = (
        "let turns = 0; const box = root.querySelector('i');"
        " setInterval(() => { box.style.width = `${20 + ((turns++ * 7) % 997)}px`; }, 20);"
    )
    box = '<i style="display:block;height:40px;background:#cf222e"></i>'
    return Story(story_id, html=box, render=run)


def slow(story_id: str, ms: int = 300) -> Story:
    """Return a story whose loader takes a while."""
    wait = f"await new Promise((done) => setTimeout(done, {ms}));"
    return Story(story_id, html=card(story_id), load=wait)


def huge(story_id: str, *, height: int = 60_000) -> Story:
    """Return a story so high; a numbered row stands at each 100 px."""
    rows = (
        f"for (let y = 0; y < {height}; y += 100) {{ const row = document.createElement('div');"
        " row.style.cssText = `height:100px;background:hsl(${y % 360} 60% 80%)`;"
        " row.textContent = `row ${y / 100}`; root.append(row); }"
    )
    return Story(story_id, render=rows)


def empty(story_id: str) -> Story:
    """Return a story that draws nothing."""
    return Story(story_id)


def portal(story_id: str) -> Story:
    """Return a story that leaves its root empty and draws elsewhere in the body."""
    box = "position:fixed;top:80px;left:120px;padding:30px;background:#ffd54f"
    draw = (
        "const box = document.createElement('div'); box.dataset.portal = '';"
        f" box.style.cssText = {json.dumps(box)}; box.textContent = 'dialog';"
        " document.body.append(box);"
    )
    return Story(story_id, render=draw)


def asks(story_id: str, address: str) -> Story:
    """Return a story that asks the network and shows what came of it."""
    ask = (
        f"let told; try {{ await fetch({json.dumps(address)}); told = 'answered'; }}"
        " catch { told = 'refused'; } root.textContent = told;"
    )
    return Story(story_id, render=ask)


def leaves(story_id: str, address: str = "/other.html") -> Story:
    """Return a story that takes its page elsewhere."""
    go = f"location.href = {json.dumps(address)}; await new Promise(() => {{}});"
    return Story(story_id, html=card(story_id), render=go)


def write(folder: Path, stories: Sequence[Story]) -> Path:
    """Write the Storybook into the folder, which is made when it is missing; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {story.id: asdict(story) for story in stories}
    (folder / "index.json").write_text(json.dumps(_index(stories)), encoding="utf-8")
    (folder / "stories.js").write_text(
        f"window.STORIES = {json.dumps(told)};", encoding="utf-8"
    )
    for name in ("iframe.html", "preview.js"):
        (folder / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def _index(stories: Sequence[Story]) -> dict[str, object]:
    entries = {
        story.id: {
            "type": "story",
            "id": story.id,
            "title": story.title or story.id.partition("--")[0],
            "name": story.id.partition("--")[2],
            "importPath": "./tiny.stories.js",
            "tags": list(story.tags),
        }
        for story in stories
    }
    return {"v": 5, "entries": entries}
