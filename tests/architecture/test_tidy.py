"""Style that a linter cannot hold: size, names, docstrings, which library lives where."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "capture_consumer"
MODULES = sorted(PACKAGE.rglob("*.py"))
FILE_LINES_MAX = 250
FUNCTION_LINES_MAX = 40
NAMES_THAT_SAY_NOTHING = {
    "base",
    "common",
    "core",
    "helper",
    "helpers",
    "manager",
    "misc",
    "utils",
}
ROOMS_OF_LIBRARIES = {
    "PIL": {"images"},
    "alembic": {"database"},
    "click": {"cli"},
    "fsspec": {"storage"},
    "httpx": {"client", "notifiers"},
    "jinja2": {"pages"},
    "markupsafe": {"pages"},
    "numpy": {"images"},
    "playwright": {"capture"},
    "prometheus_client": {"metrics"},
    "psutil": {"machine"},
    "psycopg": {"database"},
    "rich": {"cli"},
    "sqlalchemy": {"database", "tables"},  # others take `Tx` and `Engine` from `database`
    "starlette": {"web"},
    "structlog": None,  # everywhere but in the rooms below
    "uvicorn": {"cli"},
}
ROOMS_OF_THE_STANDARD_LIBRARY = {"builds", "hooks", "ipc", "sources", "supervisor"}
BORROWED = {
    ("wiring", "sqlalchemy"),  # it hands engines on
}


def name_of(path: Path) -> str:
    """Return a module's path inside the package."""
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    """Return the room that a module stands in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_by(tree: ast.AST) -> Iterator[str]:
    """Return the top-level names that a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "absolute imports only"
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_in_the_head(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)

    assert text.count("\n") <= FILE_LINES_MAX
    assert ast.get_docstring(tree), "says what it is in its first line"
    assert path.stem not in NAMES_THAT_SAY_NOTHING
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < FUNCTION_LINES_MAX, node.name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_each_library_has_its_room(path):
    libraries = set(imported_by(ast.parse(path.read_text(encoding="utf-8"))))
    libraries -= {*sys.stdlib_module_names, "capture_consumer"}

    if room_of(path) in ROOMS_OF_THE_STANDARD_LIBRARY:
        assert not libraries
    for library in libraries:
        assert library in ROOMS_OF_LIBRARIES, f"{library}: an ADR first"
        rooms = ROOMS_OF_LIBRARIES[library]
        is_borrowed = (room_of(path), library) in BORROWED
        assert rooms is None or room_of(path) in rooms or is_borrowed, library


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_offers_in_the_order_of_the_alphabet(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    offered = [
        node.value
        for node in tree.body
        if (isinstance(node, ast.Assign) and named(node.targets[0]) == "__all__")
        or (isinstance(node, ast.AnnAssign) and named(node.target) == "__all__")
    ]

    assert len(offered) == 1
    assert offered[0] is not None
    names = ast.literal_eval(offered[0])
    assert len(names) == len(set(names))


def named(node: ast.expr) -> str:
    """Return the name that is assigned to, or nothing."""
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_left_to_be_done_in_a_comment(path):
    text = path.read_text(encoding="utf-8").lower()

    for phrase in ("issue #", "todo", "fixme"):
        assert phrase not in text, phrase
