"""The shape of the project: which way imports point, what the campaign process may load, and how long a file gets."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from generators.compat.names import Either, Made, Name
from generators.compat.supplied import ROWS
from tests.source_trees import ORDERED, ROOMS, ROOT, nodes_of, sources, tree_of

INNER_ORDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "generators": (
        ("compat", "dtypes", "json_values"),
        ("array_knobs", "externs", "joined", "program_facts", "script_shape", "source", "targets", "unavailable"),
        ("case", "operators/specials", "ranges", "tvm_api"),
        ("arrays", "prim_expr", "program"),
        ("tir", "relax/knobs", "relax/values"),
        ("relax/frames",),
        ("relax/scope",),
        ("operators",),
        ("relax", "passes"),
        ("recipes",),
        ("strategies",),
    ),
    "oracles": (
        ("activities", "evidence", "family", "live_part", "pipes", "process_state", "tail", "tolerance", "tvm_frames"),
        ("pace",),
        ("forked",),
        ("verdict",),
        ("ir",),
        ("nested", "reference"),
        ("trace",),
        ("tvm_errors", "calls", "preconditions"),
        ("workbench", "walk"),
        ("builds",),
        ("oracle", "scripts"),
        ("checks",),
        ("broken", "table"),
    ),
    "corpus": (
        (
            "answers",
            "escapes",
            "number_of",
            "rate",
            "regular_files",
            "scripts/syntax",
            "toml_text",
            "wanted",
            "whole_folder",
        ),
        ("scripts/rewrites",),
        (
            "arrays_file",
            "causes/blamed",
            "encoding",
            "frames",
            "scripts/imported_files",
            "migration",
            "named_errors",
            "own",
            "scripts/poison_fill",
            "scripts/statements",
        ),
        (
            "scripts/loaded_file",
            "portable",
            "scripts/repro_imports",
            "scripts/schedule",
            "scripts/script_losses",
            "scripts/script_modules",
            "scripts/setting",
        ),
        ("causes/culprit", "causes/signature", "causes/throw_site", "causes/tracebacks"),
        ("causes/cause_message", "causes/failure_facts"),
        ("causes/cause", "causes/severity"),
        ("case_record", "case_texts", "finding", "scripts/module_text"),
        ("finding_bytes", "scripts/repro_passes", "store"),
        ("registry", "replayable", "scripts/repro_calls", "signature_baseline"),
        ("scripts/repro_body",),
        ("agreement", "promotion", "scripts/repro"),
        ("wording",),
        ("bug_pages", "readme"),
        ("issue",),
        ("findings",),
        ("reduce/candidate", "reduce/draft", "reduce/strategies"),
        ("reduce/ahead", "reduce/callees", "reduce/prim_func"),
        ("reduce/plan", "reduce/prim_repair"),
        ("reduce/prune", "reduce/realise"),
        ("reduce/search",),
        ("reduce/steps",),
        ("reduce",),
    ),
    "reports": (
        ("finding_row", "matrix", "page", "tally", "terminal"),
        ("causes", "finding_files", "pairs", "reached"),
        ("severity", "summary"),
        ("pictures", "words"),
        ("reasons",),
        ("html", "junit", "live", "markdown", "out_writer", "sarif", "shrinking"),
        ("formats", "merge", "replay_matrix", "view"),
    ),
    "fuzzer": (
        ("coverage/probes", "processes/lent"),
        ("cli_options", "cli_reduce", "early_signals", "errors", "protocol"),
        ("own_numbers", "parsing", "streams", "versions"),
        ("given_paths", "processes"),
        ("settings",),
        ("known_causes", "results", "retold_issues", "selection", "similar", "trust"),
        ("coverage", "pass_items"),
        ("engines/baggage", "engines/messages"),
        ("engines/cluster", "engines/node"),
        ("engines",),
        ("trial/subject",),
        ("trial",),
        ("trial/cause", "trial/foreign"),
        ("trial/shrinking",),
        ("campaign", "capture", "oneshot", "worker", "render"),
        ("plugin", "replaying"),
        ("commands", "under_test"),
        ("cli_capture", "cli_coverage", "cli_replay", "cli_run"),
        ("cli",),
        ("__main__",),
    ),
    "benchmarks": (
        (
            "campaigns",
            "children",
            "cpu_account",
            "decided_faults",
            "decided_modules",
            "recorded_tests",
            "reduce_models",
        ),
        ("batches", "fires", "reduce_families"),
        (
            "bench_agreement",
            "bench_causes",
            "bench_cuda_cpu",
            "bench_decided",
            "bench_engines",
            "bench_faults",
            "bench_faults_injected",
            "bench_fire_rate",
            "bench_integers",
            "bench_levels",
            "bench_plugin",
            "bench_prim_funcs",
            "bench_reduce",
            "bench_reduce_leftovers",
            "bench_reduce_models",
            "bench_reduction",
            "bench_report",
            "bench_same_cases",
            "bench_seeds",
            "bench_throughput",
            "bench_tir",
            "bench_validity",
        ),
        ("bench_shrinkray",),
        ("__main__",),
    ),
}
"""What is inside each room, lowest first: files, folders, or files of a folder that are lower than the others
(the longest entry counts). Each imports only what is lower, or itself; entries of one line do not import each
other, and no file imports itself by way of others."""

MAX_LINES = 400

CAMPAIGN_SIDE = (
    "generators.case",
    "generators.source",
    "generators.dtypes",
    "generators.passes.table",
    "oracles.verdict",
    "corpus.*",
    "corpus.causes.*",
    "corpus.scripts.*",
    "reports.*",
    "fuzzer.*",
    "fuzzer.campaign.*",
    "fuzzer.commands.*",
    "fuzzer.coverage.*",
    "fuzzer.oneshot.ask",
    "fuzzer.oneshot.front_end",
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


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, wherever it stands."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.lineno, node.module


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_left(room: str) -> None:
    to_the_right = {"tests", "benchmarks", *ROOMS[ROOMS.index(room) + 1 :]}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] == room
        for line, module in imported(tree_of(path))
        if module.split(".")[0] in to_the_right
    ]
    assert wrong == []


def modules() -> dict[str, Path]:
    """Every module of the ordered folders, and of the tests, by its dotted name."""
    found = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sources()}
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


@cache
def arrows() -> dict[str, set[str]]:
    """The modules that each module imports, wherever the import stands."""
    known = modules()
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for node in nodes_of(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                found[name] |= {one if one in known else node.module for one in whole} & set(known)
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names} & set(known)
    return found


def place_of(module: str) -> tuple[int, str]:
    """(floor, entry) of a module in INNER_ORDER; the folder of a room itself is below everything."""
    room, *inner = module.split(".")
    entries = {entry: floor for floor, line in enumerate(INNER_ORDER[room]) for entry in line}
    for length in range(len(inner), 0, -1):
        entry = "/".join(inner[:length])
        if entry in entries:
            return entries[entry], entry
    if not inner:
        return -1, ""
    raise AssertionError(f"{module} is in no line of INNER_ORDER")


@pytest.mark.parametrize("room", ORDERED)
def test_the_inside_of_a_room_is_built_upwards(room: str) -> None:
    wrong = []
    for module, targets in arrows().items():
        for target in targets:
            if module.split(".")[0] == room == target.split(".")[0]:
                above, below = place_of(module), place_of(target)
                if above[1] != below[1] and above[0] <= below[0]:
                    wrong.append(f"{module} imports {target}")
    assert sorted(wrong) == []


@pytest.mark.parametrize("room", ORDERED)
def test_the_order_names_what_is_there(room: str) -> None:
    there = {"/".join(name.split(".")[1:]) for name in modules() if name.split(".")[0] == room}
    named = {entry for line in INNER_ORDER[room] for entry in line}
    assert {entry for entry in named if not any(f"{name}/".startswith(f"{entry}/") for name in there)} == set()


def test_no_file_imports_itself_by_way_of_others() -> None:
    left = dict(arrows())
    while free := [name for name, targets in left.items() if not (targets & left.keys()) - {name}]:
        for name in free:
            del left[name]
    assert sorted(left) == [], "these files stand in a circle, or above one"


def test_nothing_is_imported_relatively() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        for node in nodes_of(tree_of(path))
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
        if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(tree_of(path))
    ]
    assert silent == []


def test_names_that_an_older_tvm_is_given_are_not_imported_from_it_directly() -> None:
    """Such an import may run before generators.tvm_api has added the name, which then imports them itself."""
    given = {row.new for row in ROWS if isinstance(row, (Either, Made, Name))}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.module}.{alias.name}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] in ROOMS and path.name != "tvm_api.py"
        for node in nodes_of(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node in tree_of(path).body
        for alias in node.names
        if f"{node.module}.{alias.name}" in given or node.module in given
    ]
    assert wrong == []


def test_one_file_knows_the_names_that_tvm_changes() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] in ROOMS and path.name != "tvm_api.py"
        for node in nodes_of(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in RENAMED and ast.unparse(node.value) not in ("T", "tvm_api")
    ]
    assert wrong == []
    assert [path.name for path in sources()].count("tvm_api.py") == 1
