"""Which failure `passfuzz reduce` keeps, what it says of the others, and what it says where nothing fails."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpus.own import is_own
from corpus.store import StoredCase, read_case, write_case
from fuzzer.oneshot import check, keep
from fuzzer.oneshot.keep import SHOWN_OTHERS, in_order, lines_of, matches
from fuzzer.oneshot.messages import Keep, Recorded, Request
from fuzzer.oneshot.prepare import Subject, prepared
from fuzzer.processes.lines import Heard
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.rejudge import Rejudge
from generators.case import Case, ModuleText, Origin, PassCall
from oracles.activities import Activity, Applying, Building
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.forked import Ended
from oracles.table import BUILD
from oracles.verdict import REJECTS
from tests.fuzzer.planted import write_passes
from tests.fuzzer.test_check import STATIC
from tests.patience import HANGS_S
from tests.quick import one_in

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]

REFUSES = """\
import tvm


def refuses(mod, context):
    if "R.nn.relu" in mod.script():
        raise ValueError("relu is not for this pass")
    return mod


PASSES = {"Refuses": lambda: tvm.transform.module_pass(refuses, opt_level=0, name="Refuses")}
"""
BY_TARGET = """\
import tvm


def fails(mod, context):
    return {}["anywhere"]


def fails_on_cuda(mod, context):
    target = tvm.target.Target.current(allow_none=True)
    if target is not None and target.kind.name == "cuda":
        return {}["on cuda"]
    return mod


the_pass = tvm.transform.module_pass
PASSES = {
    "Anywhere": lambda: the_pass(fails, opt_level=0, name="Anywhere"),
    "OnCuda": lambda: the_pass(fails_on_cuda, opt_level=0, name="OnCuda"),
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(STATIC, encoding="utf-8")
    return path


def failure(oracle: str, symptom: str = "wrong", message: str = "") -> Failure:
    return Failure(0, oracle, symptom, message, "", "Pass", "B")


def ends_with(script: Path) -> int:
    return subprocess.run([sys.executable, str(script)], capture_output=True, timeout=HANGS_S, check=False).returncode


# --- the order ------------------------------------------------------------------------------------------


def test_a_user_minds_crashes_first_then_structure_then_numbers_and_builds_last() -> None:
    names = [next(iter(CPU_BUILDS)), BUILD, "pipelines", "numeric", "well_formed", "survives"]
    refused = failure("survives", REJECTS)
    ordered = in_order([refused, *map(failure, names)])
    places = [one.oracle for one in ordered]
    assert places[:3] == ["survives", "well_formed", "numeric"]
    assert set(places[-3:-1]) == {BUILD, next(iter(CPU_BUILDS))}
    assert ordered[-1] is refused


def test_what_follows_from_an_ill_formed_module_comes_after_it() -> None:
    broken, consequence = replace(failure("well_formed"), step=1), replace(failure("survives"), step=2)
    assert in_order([consequence, broken]) == [broken, consequence]
    earlier = replace(consequence, step=0)
    assert in_order([broken, earlier]) == [earlier, broken]


def test_a_message_matches_anywhere_and_lines_are_few() -> None:
    assert matches(failure("numeric", message="3 of 8 elements"), r"\d of 8")
    assert not matches(failure("numeric", message="3 of 8 elements"), "^8")
    many = [failure("numeric", message=f"m{number}") for number in range(SHOWN_OTHERS + 3)]
    assert lines_of([*many, *many])[-1] == "3 more"
    assert len(lines_of(many)) == SHOWN_OTHERS + 1


@pytest.mark.parametrize(
    ("known", "kept", "asks_builds"),
    [
        (None, "well_formed", False),
        (("numeric", "wrong", "m"), "numeric", False),
        (("numeric", "wrong", "of another version"), "numeric", False),
        ((BUILD, "wrong", "m"), BUILD, True),
        (("purity", "wrong", "m"), "well_formed", False),
    ],
)
def test_what_a_case_is_known_to_fail_by_comes_before_all_else(
    monkeypatch: pytest.MonkeyPatch, known: tuple[str, str, str] | None, kept: str, asks_builds: bool
) -> None:
    """Also where other oracles fail, and where its message has changed; else the order of a user's mind."""
    names, asked = ("well_formed", "numeric", BUILD), list[frozenset[str]]()

    def outcome(_subject: Any, oracles: frozenset[str], rejections: bool) -> Any:
        assert rejections
        asked.append(oracles)
        return SimpleNamespace(failures=tuple(failure(name, message="m") for name in names if name in oracles), rows=())

    monkeypatch.setattr(keep, "outcome_of", outcome)
    monkeypatch.setattr(keep, "asked_of", lambda _subject: frozenset((*names, "purity")))
    recorded = None if known is None else Recorded(known[0], known[1], "Pass", known[2], None)
    found = keep.found_in(SimpleNamespace(request=SimpleNamespace(keep=Keep(), recorded=recorded)))  # type: ignore[arg-type]
    assert found.kept is not None and found.kept.oracle == kept
    assert {one.oracle for one in (found.kept, *found.others)} <= set(names)
    assert any(BUILD in one for one in asked) == asks_builds


# --- from end to end ------------------------------------------------------------------------------------


def test_the_crash_is_kept_and_the_wrong_result_named(passfuzz: Any, module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "WrongNumbers", "Raises")
    asked = ("reduce", module, "--load", load, "--passes", "WrongNumbers,Raises", "-o", tmp_path / "small.py")
    status, stdout, stderr = passfuzz(*asked, "--time", "10m", "--stats")
    assert status == 0
    assert stderr.startswith("passfuzz: keeps: survives: Raises: crash: KeyError")
    assert "also met: numeric: WrongNumbers" in stderr
    assert "kept: survives: Raises: crash" in stdout
    assert "edits accepted" in stdout
    assert ends_with(tmp_path / "small.py") == 1
    assert not (tmp_path / "small.py.resume").exists()


@pytest.mark.deep
def test_several_candidates_at_a_time_give_the_same(passfuzz: Any, module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "WrongNumbers", "Raises")
    found = []
    for jobs in ("1", "3"):
        asked = ("reduce", module, "--load", load, "--passes", "WrongNumbers,Raises", "--oracle", "numeric", "--json")
        output = tmp_path / f"small-{jobs}.py"
        status, stdout, stderr = passfuzz(*asked, "-o", output, "--time", "10m", "--jobs", jobs)
        assert status == 0, stderr
        said = json.loads(stdout)
        found.append((output.read_text(), said["reduced"]["oracle_calls"], sorted(said["others"])))
        assert ends_with(output) == 1
    assert found[0] == found[1]
    assert found[0][2], "the crash is met on the way"


@pytest.mark.parametrize(("name", "target"), one_in(2, (("OnCuda", "cuda"), ("Anywhere", "llvm"))))
def test_the_target_is_kept_where_the_failure_needs_it(
    passfuzz: Any, module: Path, tmp_path: Path, name: str, target: str
) -> None:
    load = tmp_path / "mine.py"
    load.write_text(BY_TARGET, encoding="utf-8")
    asked = ("reduce", module, "--load", load, "--passes", name, "--target", "cuda", "-o", tmp_path / "case")
    status, _, stderr = passfuzz(*asked, "--time", "10m")
    assert status == 0, stderr
    stored = read_case(tmp_path / "case")
    assert stored.case.target == target and [call.name for call in stored.case.passes] == [name]
    assert ends_with(tmp_path / "case" / "repro.py") == 1
    # A case is judged on its own target, as by `check`.
    status, _, stderr = passfuzz("reduce", tmp_path / "case", "--trust", "-o", tmp_path / "again", "--time", "10m")
    assert status == 0, stderr
    assert read_case(tmp_path / "again").case.target == target


@pytest.mark.deep
def test_a_message_picks_the_failure(passfuzz: Any, module: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "WrongNumbers", "Raises")
    asked = ("reduce", module, "--load", load, "--passes", "WrongNumbers,Raises", "-o", tmp_path / "small.py", "--json")
    status, stdout, stderr = passfuzz(*asked, "--time", "10m", "--message", "elements, float32")
    said = json.loads(stdout)
    assert status == 0, stderr
    assert said["finding"].startswith("numeric-WrongNumbers-")
    assert said["finished"]


@pytest.mark.deep
def test_a_rejection_is_named_and_kept_where_it_is_asked_for(passfuzz: Any, module: Path, tmp_path: Path) -> None:
    load = tmp_path / "mine.py"
    load.write_text(REFUSES, encoding="utf-8")
    output = tmp_path / "small.py"
    status, stdout, stderr = passfuzz("reduce", module, "--load", load, "-o", output)
    assert (status, stderr) == (0, "")
    assert "nothing to reduce: no oracle fails" in stdout
    assert "relu is not for this pass: --rejections keeps it" in stdout
    assert not output.exists()
    for option in (("--rejections",), ("--message", "not for this")):
        status, stdout, stderr = passfuzz("reduce", module, "--load", load, "-o", output, *option, "--time", "10m")
        assert status == 0, stderr
        assert " 1 binding " not in stdout and "-> 1" in stdout
        assert "R.nn.relu" in output.read_text()
        assert ends_with(output) == 1
        output.unlink()


@pytest.mark.parametrize(("captured", "status", "verdict"), [(True, 1, "failed"), (False, 0, "skipped")])
def test_what_a_command_was_captured_for_fails_a_check_of_it_too(
    passfuzz: Any, tmp_path: Path, captured: bool, status: int, verdict: str
) -> None:
    """The ValueError of a pass is what the user means, as for `reduce`; elsewhere it may state a limit."""
    call = PassCall("Refuses", "PASSES['Refuses']()")
    case = Case(ModuleText(STATIC), (call,), (), load="passes.py", origin=Origin(captured=captured))
    write_case(tmp_path / "case", StoredCase(case, "captured", "survives", "crash", "Refuses"), "", "")
    (tmp_path / "case" / "passes.py").write_text(REFUSES, encoding="utf-8")
    ended, stdout, stderr = passfuzz("check", tmp_path / "case", "--trust", "--json")
    assert ended == status, stderr
    said = [row for row in json.loads(stdout)["rows"] if row["oracle"] == "survives"]
    assert [row["verdict"] for row in said] == [verdict]
    assert not captured or "ValueError: relu is not for this pass" in said[0]["message"]


def test_what_does_not_fail_is_told_without_a_build(passfuzz: Any, module: Path, tmp_path: Path) -> None:
    status, stdout, stderr = passfuzz("reduce", module, "--passes", "DeadCodeElimination", "-o", tmp_path / "small.py")
    assert (status, stderr) == (0, "")
    assert "under DeadCodeElimination" in stdout
    assert "oracles that build (--builds)" in stdout
    assert not (tmp_path / "small.py").exists()


def test_a_reduced_case_goes_into_a_corpus_of_ones_own(passfuzz: Any, module: Path, tmp_path: Path) -> None:
    load, folder = write_passes(tmp_path, "Raises"), tmp_path / "case"
    status, _, stderr = passfuzz("reduce", module, "--load", load, "-o", folder, "--time", "10m")
    assert status == 0, stderr
    stored = read_case(folder)
    assert (stored.oracle, stored.culprit, stored.cause is not None) == ("survives", "Raises", True)
    assert {"README.md", "issue.md", "module.py", "repro.py"} <= {file.name for file in folder.iterdir()}
    assert is_own(folder)
    assert ends_with(folder / "repro.py") == 1
    status, stdout, _ = passfuzz("promote", folder, "--corpus", tmp_path / "mine", "--slug", "raises")
    assert (status, stdout) == (0, f"{tmp_path / 'mine' / 'raises'}: {stored.title}\n")
    assert read_case(tmp_path / "mine" / "raises").title == stored.title
    # The case says what it fails by, which is kept although another failure would come first.
    status, _, stderr = passfuzz("reduce", folder, "-o", tmp_path / "again.py", "--time", "10m")
    assert status == 0
    assert "keeps: survives: Raises: crash" in stderr


# --- builds that take long, and failures that come and go ---------------------------------------------------


def subject_of(tmp_path: Path, *passes: str) -> Subject:
    return prepared(Request("reduce", Case(ModuleText(STATIC), ()), passes, scratch=str(tmp_path)), lambda _said: None)


@pytest.mark.parametrize(
    ("activity", "asked", "failed"), [(Building(BUILD, "codegen"), 2, False), (Applying("FuseOps"), 1, True)]
)
def test_a_slow_build_is_no_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, activity: Activity, asked: int, failed: bool
) -> None:
    subject, deadlines = subject_of(tmp_path, "FuseOps"), list[float]()

    def in_child(work: Any, union: Any, recorder: Any, deadline_s: float, per_activity: bool) -> Heard[Any]:
        deadlines.append(deadline_s)
        return Heard((), Ended() if len(deadlines) == 1 else None, activity)

    monkeypatch.setattr(check, "in_child", in_child)
    outcome = check.outcome_of(subject)
    assert len(deadlines) == asked
    assert deadlines == sorted(set(deadlines)), "the second time has longer"
    assert bool(outcome.failures) is failed


def test_a_candidate_that_fails_now_and_then_is_judged_again(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, "FuseOps")
    shown = failure("survives", "crash", "KeyError: 1")
    other = failure("survives", "crash", "ValueError: of another kind")

    class Look:
        def __init__(self, tries: int) -> None:
            self.tries = tries
            self.others: list[Failure] = []

        def fits(self, one: Failure) -> bool:
            return True

        def met(self, one: Failure) -> None:
            self.others.append(one)

    class Twice(Rejudge):
        def failures(self, candidate: Any, left: int = 0, seed: int = 0) -> list[Failure]:
            return [shown] if seed == 2 else [other]

    for tries, fails in ((1, False), (2, False), (3, True)):
        look: Any = Look(tries)
        rejudge = Twice(Plan(0), subject.repertoire, shown, subject.recorder, look)
        assert rejudge.interesting(subject.start) is fails
        assert look.others == [other] * min(tries, 2)


NO_INPUTS = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32")):
        n = T.int64()
        y = R.nn.relu(x)
        z = R.match_cast(y, R.Tensor((n, 7), "float32"))
        return z
"""


def test_that_no_numbers_were_judged_is_told(passfuzz: Any, tmp_path: Path) -> None:
    """What is kept is then another failure than the one that its user may have in mind."""
    (tmp_path / "module.py").write_text(NO_INPUTS, encoding="utf-8")
    load = write_passes(tmp_path, "Raises")
    asked = ("reduce", tmp_path / "module.py", "--load", load, "--passes", "Raises", "-o", tmp_path / "small.py")
    status, stdout, stderr = passfuzz(*asked, "--time", "10m")
    assert status == 0, stderr
    assert "note: numbers were not judged: no inputs that the module takes" in stdout + stderr
