"""Targets and their builders: every fact is in a row, and no other file names one of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from generators import targets
from generators.passes.table import PIPELINES
from generators.targets import DEFAULT, TARGETS, of_kind
from oracles.builds import needs
from oracles.builds.build import _current_target
from oracles.builds.builders import BUILDERS
from oracles.calls.after_pass import adapter_of
from oracles.calls.table import CONVENTIONS, Convention
from oracles.workbench import Workbench
from tests.source_trees import name_of, nodes_of, product_files, tree_of

THE_ROWS = ("generators/targets.py", "oracles/builds/needs.py")
OTHER_NAMES = {
    "generators/passes/table.py": "names of pipelines",
    "oracles/checks/pipelines.py": "names of pipelines",
    "generators/passes/tuning.py": "names of TVM's sets of rules",
    "fuzzer/commands/doctor.py": "names of probes",
    "fuzzer/commands/doctor_probes.py": "names of probes",
    "fuzzer/worker/seeds.py": "TVM's kinds of targets",
    "oracles/builds/build.py": "TVM's kind of the host",
}
"""Files in which a name of a target is the name of something else."""
NAMES = {*TARGETS, *needs.ROWS}
QUOTED = re.compile(rf"""["'](?:{"|".join(map(re.escape, NAMES))})["']""")
"""Only a file with one of them is parsed."""


def names_in(tree: ast.Module) -> Iterator[int]:
    """The lines with a literal that is the name of a target or builder; TVM's kinds of targets apart, which stand in
    constructors, under the key "kind", next to an attribute `kind` and where a module's source is asked for."""
    kinds: set[ast.expr | None] = set()
    for node in nodes_of(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="Target" | "VDevice" | "inspect_source") | ast.Name(id="VDevice")):
                kinds.update(node.args, (keyword.value for keyword in node.keywords))
            case ast.Dict():
                kinds.update(
                    value
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == "kind"
                )
            case ast.Compare(left=ast.Attribute(attr="kind")):
                kinds.update(node.comparators)
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and node.value in NAMES and node not in kinds:
            yield node.lineno


def test_no_other_file_names_a_target_or_a_builder() -> None:
    found = [
        f"{name_of(path)}:{line}"
        for path in product_files()
        if name_of(path) not in (*THE_ROWS, *OTHER_NAMES) and QUOTED.search(path.read_text(encoding="utf-8"))
        for line in names_in(tree_of(path))
    ]
    assert found == []


def test_a_decision_by_name_would_be_seen() -> None:
    assert list(names_in(ast.parse('if builder == "cuda":\n    pass\n'))) == [1]
    assert list(names_in(ast.parse('x = tvm.target.Target("cuda")\n'))) == []


def test_every_target_has_a_builder_and_every_builder_two_rows() -> None:
    assert {row.builder for row in TARGETS.values()} == set(needs.ROWS) == set(BUILDERS)


def test_targets_of_one_builder_have_its_pipelines() -> None:
    for builder in needs.ROWS:
        assert len({row.pipelines for row in TARGETS.values() if row.builder == builder}) == 1
    assert {name for row in TARGETS.values() for name in row.pipelines} <= set(PIPELINES)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_target_that_stands_for_a_kind(backwards: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said by its row, not by the order of the rows."""
    rows = sorted(TARGETS.items(), reverse=backwards)
    monkeypatch.setattr(targets, "TARGETS", dict(rows))
    assert [of_kind(kind) for kind in ("llvm", "cuda", "vulkan", None)] == ["llvm", "cuda", DEFAULT, DEFAULT]


def test_one_target_stands_for_each_kind() -> None:
    assert sorted(row.kind for row in TARGETS.values() if row.of_kind) == sorted({row.kind for row in TARGETS.values()})


def test_targets_with_threads_have_one_pipeline() -> None:
    """`oracles.builds.builders` asks one of them for the passes of a build, whichever comes first."""
    assert len({TARGETS[name].pipelines for name in TARGETS if TARGETS[name].threads}) == 1


@pytest.mark.parametrize("opt_level", [0, 2])
def test_the_default_target_is_built_as_plain_llvm(opt_level: int) -> None:
    import tvm
    import tvm_ffi

    plain = tvm.target.Target({"kind": "llvm", "opt-level": opt_level})
    current = Workbench(None, None).guarded(lambda: _current_target(opt_level))  # type: ignore[arg-type]
    assert tvm_ffi.structural_equal(current, plain)
    assert tvm_ffi.structural_equal(_current_target(opt_level), plain)


def test_a_builder_that_lacks_something_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = needs.BuilderRow("llvm", missing=lambda: "no LLVM", hint="install it")
    monkeypatch.setitem(needs.ROWS, needs.LLVM.name, lacking)
    assert needs.missing(DEFAULT) == "no LLVM; install it"


@pytest.mark.parametrize("row", CONVENTIONS.values(), ids=lambda row: row.name)
def test_every_convention_has_an_adapter(row: Convention) -> None:
    assert row.contract.endswith(".")
    assert callable(adapter_of(row.adapter))
