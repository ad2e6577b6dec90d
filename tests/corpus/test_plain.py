"""Scripts for issues: run by themselves they show their bug, without a harness, and are quiet without the bug."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.scripts.repro import plain_text, script_of, shown_by_script
from corpus.scripts.schedule import schedule_steps
from corpus.scripts.statements import statements_of
from corpus.store import StoredCase, read_case
from generators.case import EntryCall, PassCall
from oracles.evidence import Evidence, Hung, OutOfMemory
from oracles.scripts import Script, named
from oracles.verdict import CRASH, DOES_NOT_BUILD
from tests.corpus.planted_faults import FAULTS
from tests.corpus.test_repro import ADD, CLEAN_ON, EVIDENCE, OTHER_BUILDS, PLANTED, RESULT, X, stored
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

CASES = Path(__file__).resolve().parents[2] / "corpus/cases"
ORDINARY = ("survives", "numeric", "definedness")
HARNESS = re.compile(r"\bfork\b|(?<!__)excepthook(?! = )|alarm|itimer|exit\(|\bfinished\b|status\b|mmap|waitpid")


def ended(tmp_path: Path, case: StoredCase, **environment: str) -> subprocess.CompletedProcess[str]:
    """What becomes of the plain script, in a folder with the module's JSON alone."""
    script = tmp_path / "issue.py"
    script.write_text(plain_text(case))
    if case.case.module.json is not None:
        (tmp_path / "module.json").write_text(case.case.module.json)
    clean = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
        cwd=tmp_path,
        env={**clean, "TVM_NUM_THREADS": "1", **environment},
    )


def is_shown(process: subprocess.CompletedProcess[str]) -> bool:
    """A traceback, which Python does not print for a script that it cannot read, or a signal."""
    said = process.stderr
    raised = "Traceback (most recent call last)" in said and not said.splitlines()[-1].startswith("NameError")
    return process.returncode < 0 or (process.returncode == 1 and raised)


def _marked(name: str) -> object:
    return name if name in ORDINARY else pytest.param(name, marks=pytest.mark.deep)


@pytest.mark.parametrize("oracle", [_marked(oracle) for oracle in (*PLANTED, *OTHER_BUILDS)])
def test_a_planted_bug_is_shown(tmp_path: Path, oracle: str) -> None:
    faults = tmp_path / "faults.py"
    faults.write_text(FAULTS)
    process = ended(tmp_path, stored(oracle, {**PLANTED, **OTHER_BUILDS}[oracle], str(faults)))
    assert is_shown(process), process.stderr


@pytest.mark.deep
@pytest.mark.parametrize(
    "what", [what for what, row in EVIDENCE.items() if not isinstance(row[2], (Hung, OutOfMemory))]
)
def test_a_planted_bug_is_shown_by_its_evidence(tmp_path: Path, what: str) -> None:
    oracle, name, evidence = EVIDENCE[what]
    faults = tmp_path / "faults.py"
    faults.write_text(FAULTS)
    process = ended(tmp_path, replace(stored(oracle, name, str(faults)), evidence=evidence))
    assert is_shown(process), process.stderr


def test_every_script_of_an_oracle_is_planted_here() -> None:
    assert named() - {"build"} <= {*PLANTED}


@pytest.mark.parametrize("oracle", [*PLANTED, *OTHER_BUILDS])
def test_every_script_has_a_verb_for_titles(oracle: str) -> None:
    says = script_of(stored(oracle, "P", None)).says
    assert says != Script("").says
    assert says.split()[0].endswith("s")


@pytest.mark.parametrize(
    "oracle", [o if o == "numeric" else pytest.param(o, marks=pytest.mark.deep) for o in (*PLANTED, *OTHER_BUILDS)]
)
def test_a_clean_pass_is_cleared(tmp_path: Path, oracle: str) -> None:
    process = ended(tmp_path, stored(oracle, "P", None, CLEAN_ON.get(oracle, "relax.transform.ToNonDataflow()")))
    assert process.returncode == 0, process.stderr


def test_a_verifier_that_has_nothing_to_say_ends_well(tmp_path: Path) -> None:
    script = tmp_path / "issue.py"
    script.write_text(plain_text(stored("definedness", "ToNonDataflow", None), "relax.analysis.well_formed(after)"))
    process = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=HANGS_S, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.deep
@pytest.mark.parametrize("folder", sorted(path.name for path in CASES.iterdir() if (path / "case.json").exists()))
def test_the_shipped_cases_are_shown(tmp_path: Path, folder: str) -> None:
    case = read_case(CASES / folder)
    if isinstance(case.evidence, (Hung, OutOfMemory)) or not shown_by_script(case):
        pytest.skip("it does not end, or needs a device")
    process = ended(tmp_path, case, MALLOC_PERTURB_=str(case.setting.fill.perturb))
    assert is_shown(process) == (case.outcome_on("0.27.0.post1") == "fails"), process.stderr


@pytest.mark.parametrize("oracle", [*PLANTED, *OTHER_BUILDS])
def test_there_is_no_harness(oracle: str) -> None:
    text = plain_text(stored(oracle, "ToNonDataflow", None))
    found = HARNESS.findall(text)
    assert not found or oracle == "determinism"
    assert "import os" not in text or "os." in text.replace("import os", "")
    assert len(text.splitlines()) - len(ADD.strip().splitlines()) <= 36
    ast.parse(text)


@pytest.mark.parametrize("evidence", [None, Hung()])
def test_a_crash_is_one_call(evidence: Evidence | None) -> None:
    base = stored("survives", "ToNonDataflow", None)
    text = plain_text(replace(base, symptom=CRASH, evidence=evidence))
    assert text.rstrip().endswith("\n\nrelax.transform.ToNonDataflow()(Module)")


def test_the_verifier_takes_the_place_of_the_check() -> None:
    case = stored("definedness", "ToNonDataflow", None)
    by = "relax.analysis.well_formed(after)"
    assert plain_text(case, by).endswith(f"after = relax.transform.ToNonDataflow()(Module)\n{by}\n")
    prim = "s_tir.analysis.verify_well_formed(after['main'])"
    assert plain_text(case, prim).endswith(f"\nassert {prim}\n")
    assert by not in plain_text(stored("attributes", "ToNonDataflow", None), by)


def test_a_pipeline_takes_the_place_of_the_passes() -> None:
    text = plain_text(stored("survives", "ToNonDataflow", None), call="tvm.compile(Module, tvm.target.Target('llvm'))")
    assert text.endswith("\n\ntvm.compile(Module, tvm.target.Target('llvm'))\n")
    assert "ToNonDataflow" not in text
    assert "import tvm\n" in text


def test_what_does_not_build_is_not_run() -> None:
    case = replace(stored("build", "ToNonDataflow", None), symptom=DOES_NOT_BUILD)
    assert plain_text(case).endswith('tvm.compile(mod, tvm.target.Target("llvm"))\n')


def test_what_crashes_when_it_runs_is_not_compared() -> None:
    text = plain_text(replace(stored("build", "ToNonDataflow", None), symptom=CRASH))
    assert 'vm["main"](tensor(np.array([1.0, 2.0], "float32")))\n' in text
    assert "want" not in text


def test_the_culprit_is_named_where_tvm_compile_applies_it() -> None:
    text = plain_text(replace(stored("build", "ToNonDataflow", None), culprit="StaticPlanBlockMemory"))
    assert "# tvm.compile applies StaticPlanBlockMemory.\n" in text


@pytest.mark.parametrize(
    ("tolerances", "said"),
    [
        (1.23e-6, "rtol=0, atol=1.3e-06"),
        (np.array([1.0e-6, 1.9e-6]), "rtol=0, atol=1.9e-06"),
        (np.array([1.0e-6, 1.0]), 'atol=np.array([1e-06, 1.0], "float64")'),
        (0.0, "np.testing.assert_array_equal(got, want)"),
    ],
)
def test_a_tolerance_is_one_number_where_that_says_the_same(tolerances: np.ndarray | float, said: str) -> None:
    base = stored("numeric", "ToNonDataflow", None)
    text = plain_text(replace(base, expectations=(Expectation(0, (RESULT,), (tolerances,)),)))
    assert said in text


def test_arrays_of_some_size_stand_in_the_script() -> None:
    base = stored("numeric", "ToNonDataflow", None)
    wide = np.arange(200, dtype=np.float32)
    text = plain_text(replace(base, case=replace(base.case, calls=(EntryCall("main", (wide,)),))))
    assert "199.0" in text
    assert "base64" not in text and "npz" not in text
    assert str(X.dtype) in text


SCHEDULE = """tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('main'),
 sch.fuse(sch.get_loops(sch.get_sblock("b"))[0], sch.get_loops(sch.get_sblock("b"))[1]), sch.mod)[-1], opt_level=0)"""


def test_the_steps_of_a_schedule_are_statements() -> None:
    lines, result = statements_of(SCHEDULE, "Module")
    assert result == "sch.mod"
    assert lines[:2] == ["sch = tvm.s_tir.Schedule(Module)", "sch.work_on('main')"]
    assert lines[2:] == schedule_steps(SCHEDULE)
    assert statements_of("relax.transform.FuseOps()", "Module") == ([], "")
    base = stored("survives", "s_tir.Schedule", None, SCHEDULE)
    text = plain_text(replace(base, case=replace(base.case, passes=(PassCall("s_tir.Schedule", SCHEDULE),))))
    assert "lambda" not in text
    assert text.endswith("\n".join(lines) + "\n")
