"""`passfuzz check` and `passfuzz reduce` on modules and cases, with planted passes; each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.replayable import CORPUS
from fuzzer.commands.check import check_module
from fuzzer.commands.reduce import reduce_case
from fuzzer.commands.reduce_asked import ReduceOptions
from fuzzer.commands.reduce_shown import shown
from fuzzer.errors import UsageError
from fuzzer.oneshot import prepare
from fuzzer.oneshot.messages import Keep, Reduction
from fuzzer.results import NothingToReduce, ReduceResult
from oracles.builds.cpu_builds import CPU_BUILDS
from tests.fuzzer.planted import write_passes
from tests.patience import HANGS_S

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]

STATIC = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((2, 4), "float32"):
        with R.dataflow():
            a = R.multiply(x, y)
            b = R.nn.relu(a)
            c = R.add(b, x)
            R.output(c)
        return c
"""
LEGAL = """\
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def exp(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in T.serial(4):
            with T.sblock("y"):
                vi = T.axis.spatial(4, i)
                y[vi] = T.exp(x[vi])

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((4,), "float32"))
            R.output(a)
        return a
"""
PRIM_FUNC = """\
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def main(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in T.serial(4):
        with T.sblock("y"):
            vi = T.axis.spatial(4, i)
            y[vi] = x[vi] + T.float32(1)
"""
OTHER_CONSTANTS = """\
import tvm
import tvm_ffi
from tvm import tirx


def other(mod, context):
    functions = dict(mod.functions.items())
    for name, f in functions.items():
        if isinstance(f, tirx.PrimFunc):
            body = tvm_ffi.structural_map(f.body, (tirx.FloatImm, lambda v: tirx.FloatImm(v.ty.dtype, v.value + 1)))
            functions[name] = tirx.PrimFunc(f.params, body, f.ret_type, f.attrs)
    return tvm.ir.IRModule(functions, attrs=mod.attrs)


PASSES = {"OtherConstants": lambda: tvm.transform.module_pass(other, opt_level=0, name="OtherConstants")}
CONTRACTS = {"OtherConstants": {"phase": "tir"}}
"""
LOWERED = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        R.func_attr({"relax.force_pure": True})
        storage: R.Any = R.vm.alloc_storage(R.shape([8]), 0, R.dtype("uint8"), R.str("global"))
        a = R.exp(x)
        return a
"""
FINDING = "17340-kill-after-last-use-in-dataflow"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(STATIC, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "oracle", "symptom"),
    [
        ("WrongNumbers", "numeric", "wrong result"),
        pytest.param("Mutates", "input_unchanged", "input changed", marks=pytest.mark.deep),
        ("Segfaults", "survives", "crash"),
        pytest.param("EatsMemory", "survives", "crash", marks=pytest.mark.deep),
        ("Raises", "survives", "crash"),
        pytest.param("Hangs", "survives", "hang", marks=pytest.mark.deep),
        ("Exits", "survives", "crash"),
    ],
)
def test_check_names_the_planted_culprit(
    module: Path, tmp_path: Path, name: str, oracle: str, symptom: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if symptom == "hang":
        monkeypatch.setattr(prepare, "STAGE_S", 20.0)
    load = write_passes(tmp_path, "Identity", name)
    result = check_module(module, ("Identity", name), "llvm", load)
    assert result.culprit == name
    failed = [(row.oracle, row.pass_name, row.symptom) for row in result.rows if row.verdict == "failed"]
    assert failed[0] == (oracle, name, symptom)
    assert {row.verdict for row in result.rows if row.pass_name == "Identity"} <= {"passed", "skipped"}


def test_a_pass_is_blamed_for_a_kill_that_comes_again(module: Path, tmp_path: Path) -> None:
    result = check_module(module, ("IsKilled",), "llvm", write_passes(tmp_path, "IsKilled"))
    assert (result.culprit, [row.message for row in result.rows if row.verdict == "failed"]) == (
        "IsKilled",
        ["SIGKILL in IsKilled"],
    )


def test_no_pass_is_blamed_for_a_kill_from_outside(module: Path, tmp_path: Path) -> None:
    load = tmp_path / "once.py"
    load.write_text(
        "import os, pathlib, signal\nimport tvm\n\n@tvm.transform.module_pass(opt_level=0, name='Once')\n"
        f"def once(mod, context):\n    flag = pathlib.Path({str(tmp_path / 'flag')!r})\n    if not flag.exists():\n"
        "        flag.touch()\n        os.kill(os.getpid(), signal.SIGKILL)\n    return mod\n\n"
        "PASSES = {'Once': lambda: once}\n"
    )
    result = check_module(module, ("Once",), "llvm", load)
    assert (tmp_path / "flag").exists() and not result.failed


def test_check_shows_what_a_wrong_pass_did(module: Path, tmp_path: Path) -> None:
    result = check_module(module, ("WrongNumbers",), "llvm", write_passes(tmp_path, "WrongNumbers"))
    (wrong,) = [row for row in result.rows if row.oracle == "numeric" and row.verdict == "failed"]
    assert wrong.difference.startswith("--- before\n+++ after\n@@ main @@\n")
    assert all(row.difference == "" for row in result.rows if row.oracle != "numeric")
    assert result.values == (), "values are told where they are asked for"


def test_check_explains_with_values_before_and_after_the_culprit(module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "Identity", "WrongNumbers")
    result = check_module(module, ("Identity", "WrongNumbers"), "llvm", load, explain=True)
    given, changed = ([row for row in result.values if row.after == after] for after in ("", "WrongNumbers"))
    assert [row.variable for row in given] == ["x", "y", "a", "b", "c"]
    assert {row.type for row in given} == {"float32[2, 4]", "float32[4]"}
    assert [row.elements for row in given[:2]] == [row.elements for row in changed[:2]], "the inputs are the same"
    assert given[-1].elements != changed[-1].elements


def test_check_of_correct_passes_finds_nothing_and_compares_numbers(module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "Identity", "Copies")
    result = check_module(module, (), "llvm", load)
    assert not result.failed
    verdicts = {(row.oracle, row.pass_name): row.verdict for row in result.rows}
    assert verdicts["numeric", "Copies"] == "passed"
    assert verdicts["build", None] == "passed"


def test_check_judges_the_default_build_where_no_pass_is_named(module: Path) -> None:
    """And the round trip of the module alone: TVM's parser does not read what its printer writes of lowered ones."""
    result = check_module(module, (), "llvm", None)
    judged = [row.pass_name for row in result.rows if row.oracle == "survives"]
    assert judged[:3] == ["DispatchSampling", "DispatchSortScan", "LegalizeOps"]
    assert judged[-1] == "AttachGlobalSymbol"
    assert ("build", "passed") in {(row.oracle, row.verdict) for row in result.rows}
    assert ("numeric", "LegalizeOps", "passed") in {(r.oracle, r.pass_name, r.verdict) for r in result.rows}
    assert [(r.pass_name, r.verdict) for r in result.rows if r.oracle == "round_trip"] == [(None, "passed")]
    assert [(r.pass_name, r.verdict) for r in result.rows if r.oracle in CPU_BUILDS] == 2 * [(None, "passed")]
    assert result.status() == 0


@pytest.mark.deep
def test_check_begins_where_the_module_stands(tmp_path: Path) -> None:
    legal = tmp_path / "legal.py"
    legal.write_text(LEGAL, encoding="utf-8")
    result = check_module(legal, (), "llvm", None)
    assert [row.pass_name for row in result.rows if row.oracle == "survives"][0] == "ToNonDataflow"
    assert ("build", "passed") in {(row.oracle, row.verdict) for row in result.rows}
    assert not result.failed


def test_what_a_pass_without_work_leaves_is_built(tmp_path: Path) -> None:
    """LegalizeOps of a legalised module, FuseOps without patterns: all builds were skipped, and the check "passed"."""
    legal = tmp_path / "legal.py"
    legal.write_text(LEGAL, encoding="utf-8")
    result = check_module(legal, ("LegalizeOps", "FuseOps(fuse_opt_level=1)"), None, None)
    assert ("build", "passed") in {(row.oracle, row.verdict) for row in result.rows}
    assert result.notes == ()


def test_check_says_last_that_nothing_was_built(module: Path, passfuzz: Callable[..., tuple[int, str, str]]) -> None:
    status, out, _ = passfuzz("check", module, "--passes", "ToNonDataflow")
    last = out.splitlines()[-1]
    assert (status, last.startswith("note: no build was judged; build: ToNonDataflow, out of its phase,")) == (0, True)


def test_check_judges_the_numbers_of_prim_funcs_without_callers(tmp_path: Path) -> None:
    alone, load = tmp_path / "alone.py", tmp_path / "mine.py"
    alone.write_text(PRIM_FUNC, encoding="utf-8")
    load.write_text(OTHER_CONSTANTS, encoding="utf-8")
    result = check_module(alone, (), "llvm", load)
    assert [(r.oracle, r.pass_name) for r in result.rows if r.verdict == "failed"] == [("numeric", "OtherConstants")]


@pytest.mark.deep
def test_check_judges_an_order_against_the_documentation_and_says_so(
    module: Path, passfuzz: Callable[..., tuple[int, str, str]]
) -> None:
    said = "TVM documents that CanonicalizeBindings runs before LowerAllocTensor: "
    _, out, _ = passfuzz("check", module, "--passes", "LowerAllocTensor,CanonicalizeBindings")
    assert f"note: {said}" in " ".join(out.split())
    result = check_module(module, ("LowerAllocTensor", "CanonicalizeBindings"), None, None)
    assert [note.startswith(said) for note in result.notes] == [True] and result.to_json()["notes"] == result.notes
    assert {row.pass_name for row in result.rows} >= {"LowerAllocTensor", "CanonicalizeBindings"}


def test_check_knows_what_a_lowered_module_has_been_through(tmp_path: Path) -> None:
    path = tmp_path / "lowered.py"
    path.write_text(LOWERED, encoding="utf-8")
    assert check_module(path, ("VMShapeLower",), None, None).notes == ()
    (note,) = check_module(path, ("LambdaLift",), None, None).notes[-1:]
    assert note.startswith("TVM documents that LambdaLift runs before LowerRuntimeBuiltin: ")


def test_a_pass_may_be_named_twice(module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "Identity", "Copies")
    result = check_module(module, ("Copies", "Identity", "Copies"), "llvm", load)
    judged = [row.pass_name for row in result.rows if row.oracle == "survives"]
    assert judged == ["Copies", "Identity", "Copies"]


def test_check_reads_a_case_folder_and_its_passes() -> None:
    result = check_module(CORPUS / FINDING / "case.json", (), "llvm", None)
    assert result.culprit == "KillAfterLastUse"


def test_reduce_makes_a_planted_fault_small(module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "Identity", "WrongNumbers")
    names = ("Identity", "WrongNumbers")
    result = reduce_case(module, ReduceOptions(names, Keep("numeric"), time_s=HANGS_S, load=load))
    assert isinstance(result, ReduceResult)
    assert result.finding is not None
    assert result.finding.startswith("numeric-WrongNumbers-")
    assert (result.reduced["bindings_before"], result.reduced["bindings"]) == (3, 1)
    assert (result.reduced["passes_before"], result.reduced["passes"]) == (2, 1)
    script = tmp_path / "repro.py"
    script.write_text(result.repro, encoding="utf-8")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=HANGS_S, check=False)
    assert ended.returncode == 1


@pytest.mark.parametrize(("statuses", "which"), [((1, 1), 0), ((0, 1), 1), ((0, 0), None), ((2, 1), None)])
def test_the_first_script_that_shows_a_failure_is_taken(statuses: tuple[int, ...], which: int | None) -> None:
    scripts = [f"import sys  # {number}\nsys.exit({status})\n" for number, status in enumerate(statuses)]
    what = shown(Reduction(tuple(scripts), {}, None), trust=False)
    assert (what.number if what.rate.each_time else None) == which


def test_a_script_is_run_beside_its_json() -> None:
    script = "import sys\nsys.exit(open(__file__ + '.json').read() == '{}')\n"
    assert shown(Reduction((script,), {}, None, "{}"), trust=False).rate.each_time


def test_reduce_of_another_oracle_than_the_failing_one_says_that_nothing_fails(module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "WrongNumbers")
    result = reduce_case(module, ReduceOptions(keep=Keep("idempotence"), time_s=HANGS_S, load=load))
    assert isinstance(result, NothingToReduce)
    assert "the oracle idempotence does not fail" in result.tried[0]


def test_reduce_by_a_command_keeps_what_the_command_accepts(module: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = tmp_path / "look.sh"
    command.write_text(f'#!/bin/sh\necho "$@" >> {seen}\ngrep -q "R.nn.relu" "$1"\n', encoding="utf-8")
    os.chmod(command, 0o755)
    result = reduce_case(module, ReduceOptions(interesting=str(command), time_s=HANGS_S))
    assert isinstance(result, ReduceResult)
    assert "R.nn.relu" in result.repro
    assert "R.multiply" not in result.repro
    assert (result.reduced["bindings"], result.finding) == (1, None)
    assert all(line.endswith(".py") and len(line.split()) == 1 for line in seen.read_text().splitlines())
    compile(result.repro, "candidate.py", "exec")


def test_a_command_that_hangs_is_ended(module: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.sh"
    slow.write_text("#!/bin/sh\nsleep 100\n", encoding="utf-8")
    os.chmod(slow, 0o755)
    with pytest.raises(UsageError, match="does not end within 1 s"):
        reduce_case(module, ReduceOptions(interesting=str(slow), time_s=1.0))


def test_reduce_of_a_lowered_module_leaves_its_dtypes_alone(tmp_path: Path) -> None:
    """In lowered modules a dtype is a constant, too, and holds no array."""
    lowered = tmp_path / "lowered.py"
    lowered.write_text(LOWERED, encoding="utf-8")
    result = reduce_case(lowered, ReduceOptions(interesting="grep -q alloc_storage", time_s=HANGS_S))
    assert isinstance(result, ReduceResult)
    assert 'R.dtype("uint8")' in result.repro
    assert result.reduced["bindings"] == 1


SHIFTED = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "DTYPE")) -> R.Tensor((2, 4), "int32"):
        with R.dataflow():
            a = R.right_shift(R.astype(x, "int32"), R.const(BITS, "int32"))
            R.output(a)
        return a
"""
SHIFTS = """
import tvm

def _same(module, context):
    return tvm.script.from_source(module.script(show_meta=True))

def _wrong(module, context):
    return tvm.script.from_source(module.script(show_meta=True).replace("right_shift", "left_shift"))

def _less(module, context):
    return tvm.script.from_source(module.script(show_meta=True).replace("R.const(3,", "R.const(4,"))

PASSES = {
    name: lambda name=name, f=f: tvm.transform.module_pass(f, opt_level=0, name=name)
    for name, f in {"Same": _same, "Wrong": _wrong, "Less": _less}.items()
}
"""


@pytest.mark.parametrize(
    ("bits", "name", "verdict"),
    [(3, "Same", "passed"), (3, "Less", "failed"), (9, "Same", "inconclusive"), (9, "Wrong", "failed")],
)
def test_inputs_that_change_nothing_are_no_pass(tmp_path: Path, bits: int, name: str, verdict: str) -> None:
    """A shift of a byte by nine gives zero whatever the byte is."""
    module, load = tmp_path / "shifted.py", tmp_path / "shifts.py"
    module.write_text(SHIFTED.replace("DTYPE", "uint8").replace("BITS", str(bits)))
    load.write_text(SHIFTS)
    result = check_module(module, (name,), None, load)
    assert [row.verdict for row in result.rows if row.oracle == "numeric"] == [verdict]
    assert any("output 0 of main" in note for note in result.notes) == (bits == 9)
