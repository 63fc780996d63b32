"""The supervisor stands alone: the standard library, `ipc`, and itself."""

import ast
import json
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "capture_consumer"
ROOMS = ("capture_consumer.supervisor", "capture_consumer.ipc")
RSS_MAX_KIB = 20 * 1024


def alone(code):
    """Return what a bare interpreter prints, the package's path inserted."""
    script = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n{code}"
    command = [sys.executable, "-I", "-S", "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_supervisor_loads_the_standard_library_ipc_and_itself():
    """SUP-1."""
    told = alone(
        "import capture_consumer.supervisor.__main__, json\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(told)

    strange = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert strange == {"capture_consumer", "__main__"} - sys.stdlib_module_names
    ours = [name for name in loaded if name.startswith("capture_consumer.")]
    assert [name for name in ours if not name.startswith(ROOMS)] == []


def test_the_supervisor_with_all_its_modules_is_small():
    """SUP-1, R34: below 20 MiB."""
    told = alone(
        "import capture_consumer.supervisor.__main__, os\n"
        "print(open('/proc/self/statm').read().split()[1], os.sysconf('SC_PAGE_SIZE'))"
    )
    pages, size = map(int, told.split())

    assert pages * size // 1024 < RSS_MAX_KIB


def test_health_loads_five_modules_and_nothing_else_of_ours():
    """SUP-91."""
    tree = ast.parse((PACKAGE / "supervisor" / "health.py").read_text())
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]

    assert sorted(imported) == ["json", "os", "signal", "sys", "time"]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    loaded = alone(
        "import capture_consumer.supervisor.health\n"
        "print(*[name for name in sys.modules if name.startswith('capture_consumer')])"
    )
    assert loaded.split() == [
        "capture_consumer",
        "capture_consumer.supervisor",
        "capture_consumer.supervisor.health",
    ]


def handlers_in(room):
    """Return the functions of a room that handle signals."""
    for path in sorted((PACKAGE / room).glob("*.py")):
        tree = ast.parse(path.read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        setting = [call for call in calls if ast.unparse(call.func) == "signal.signal"]
        names = [ast.unparse(call.args[1]) for call in setting]
        yield from (functions[name] for name in names if name != "signal.SIG_IGN")


def test_no_signal_handler_of_the_supervisor_does_anything():
    """S-21, SUP-10: handlers are functions whose body is their docstring."""
    handlers = [handler for room in ("supervisor", "ipc") for handler in handlers_in(room)]

    assert len(handlers) == 2
    assert all(len(handler.body) == 1 for handler in handlers)
    assert all(isinstance(handler.body[0], ast.Expr) for handler in handlers)


def test_nothing_forks_without_exec():
    """S-23, SUP-2."""
    for path in PACKAGE.rglob("*.py"):
        names = {
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute | ast.Name | ast.alias | ast.keyword)
        }
        assert not names & {"os.fork", "multiprocessing", "os.forkpty"}, path
        assert not any(name.startswith("preexec_fn") for name in names), path
