"""The shape of the project: which way imports point, what the campaign process may load, and how long a file gets."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("generators", "oracles", "corpus", "reports", "fuzzer")
"""Left to right: a room imports only itself and the rooms before it."""

MAX_LINES = 400

CAMPAIGN_SIDE = (
    "generators.case",
    "generators.source",
    "generators.dtypes",
    "generators.passes.table",
    "oracles.verdict",
    "corpus.*",
    "reports.*",
    "fuzzer.*",
    "fuzzer.campaign.*",
    "fuzzer.commands.*",
    "fuzzer.oneshot.ask",
    "fuzzer.oneshot.read_case",
)
"""Loaded by the process that no TVM may kill. `room.*` is every file directly in the room but what
`doctor` runs in a process of its own."""

RENAMED = {
    *("struct_info", "ret_struct_info", "ret_ty", "sinfo_args", "out_sinfo", "_update_type", "_update_struct_info"),
    *("TensorType", "ShapeType", "FuncType", "AnyType", "PrimType", "GenericConst"),
    *("TensorStructInfo", "ShapeStructInfo", "FuncStructInfo", "ObjectStructInfo", "PrimStructInfo"),
}
"""Names of TVM that have changed between versions; only generators/tvm_api.py may use them."""


def sources() -> Iterator[Path]:
    """Every Python file of the rooms and their tests, stored cases apart."""
    for room in (*ROOMS, "tests"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if "cases" not in path.parts:
                yield path


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.lineno, node.module


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_left(room: str) -> None:
    to_the_right = {"tests", *ROOMS[ROOMS.index(room) + 1 :]}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] == room
        for line, module in imported(ast.parse(path.read_text(encoding="utf-8")))
        if module.split(".")[0] in to_the_right
    ]
    assert wrong == []


def test_nothing_is_imported_relatively() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert wrong == []


def test_the_campaign_process_never_loads_tvm() -> None:
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        "    if {'tvm', 'tvm_ffi'} & set(sys.modules):\n"
        "        sys.exit(f'{name} loads tvm')\n"
    )
    names = [name for entry in CAMPAIGN_SIDE for name in _expanded(entry)]
    ended = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def _expanded(entry: str) -> list[str]:
    if not entry.endswith(".*"):
        return [entry]
    room = entry.removesuffix(".*")
    files = sorted((ROOT / room.replace(".", "/")).glob("*.py"))
    return [f"{room}.{path.stem}" for path in files if path.stem not in ("__init__", "doctor_probes")]


def test_files_are_one_idea_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {path: length for path, length in lengths.items() if length > MAX_LINES} == {}


def test_every_module_says_what_lives_in_it() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources()
        if (text := path.read_text(encoding="utf-8")).strip() and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_one_file_knows_the_names_that_tvm_changes() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] in ROOMS and path.name != "tvm_api.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in RENAMED and ast.unparse(node.value) not in ("T", "tvm_api")
    ]
    assert wrong == []
    assert [path.name for path in sources()].count("tvm_api.py") == 1
