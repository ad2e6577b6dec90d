"""Whose fault the end of a script is, and whether a failure is the one that is recorded. No TVM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.causes.signature import told_by
from corpus.registry import KnownCause, Registry
from fuzzer.replaying.comparison import is_recorded, outcome_of
from fuzzer.replaying.ending import BrokenScript, Fails, Gone, ScriptEnd, Unportable, ending_of
from fuzzer.replaying.journal import Journal
from oracles.evidence import AnotherForm, Died, Evidence, Hung, LeftForVm, NotReadBack, ReferenceTrap, SpoiltProcess
from reports.matrix import ReplayRow
from tests.fuzzer.test_replay import stored

FILE = "/case/repro.py"
SCRIPT = """\
import tvm
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x

after = tvm.relax.transform.CSE()(Module)
assert after is not None
tvm.relax.analysis.well_formed(after)
"""
IN_MODULE = f'  File "{FILE}", line 6, in main\n    @R.function\n'
APPLIES = f'  File "{FILE}", line 10, in <module>\n    after = ...\n'
CHECKS = f'  File "{FILE}", line 11, in <module>\n    assert after is not None\n'
PARSER = '  File "/env/lib/python3.11/site-packages/tvm/script/parser/core/entry.py", line 128, in parse\n    x\n'
CALLED = '  File "/env/lib/python3.11/site-packages/tvm/ir/transform.py", line 171, in __call__\n    x\n'
MAKES = '  File "/env/lib/python3.11/site-packages/tvm/relax/expr.py", line 9, in __init__\n    x\n'
IN_PASS = '  File "/project/src/relax/transform/cse.cc", line 9, in tvm::relax::CSE(tvm::relax::Function)\n'


def ended(status: int, stdout: str = "", *trace: str, text: str = SCRIPT) -> ScriptEnd:
    stderr = "".join(("Traceback (most recent call last):\n", *trace)) if trace else ""
    return ScriptEnd(status, stdout, stderr, FILE, text)


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (ended(0, "the bug is gone"), Gone),
        (ended(2, "this needs a GPU"), Unportable),
        (ended(2, "error", IN_MODULE, PARSER, "tvm.error.DiagnosticError: no such word\n"), Unportable),
        (ended(1, "error", IN_MODULE, PARSER, "tvm.error.DiagnosticError: no such word\n"), Unportable),
        (ended(1, "error", CHECKS, "AttributeError: module 'tvm' has no attribute 'x'\n"), Unportable),
        (ended(2, "error", APPLIES, "TypeError: CSE() got an unexpected keyword argument\n"), Unportable),
        (ended(2, "error", APPLIES, MAKES, "TypeError: Mismatched type on argument #1\n"), Unportable),
        (ended(1, "wrong", CHECKS, "AssertionError: wrong\n"), "check"),
        (ended(1, "error", APPLIES, CALLED, IN_PASS, "InternalError: Check failed: (x) is false\n"), "exception"),
        (ended(2, "error", APPLIES, CALLED, IN_PASS, "InternalError: Check failed: (x) is false\n"), "exception"),
        (ended(1, "error", APPLIES, CALLED, IN_PASS, "AssertionError\n"), "exception"),
        (ended(1, "killed by signal 11"), "signal"),
        (ended(1, "killed by signal 9"), BrokenScript),
        (ended(1, "killed by signal 14"), "hang"),
        (ended(1, "killed by signal 27"), "hang"),
        (ended(1, "exit 3"), "exit"),
        (ended(155), "hang"),
        (ended(139), "signal"),
        (ended(137), BrokenScript),
        (ended(7, "what"), BrokenScript),
        (ended(1, "", "RuntimeError: ours\n"), BrokenScript),
        (ended(139, text="import os\nm = tvm.ir.load_json(file.read())\nos.fork()\n"), Unportable),
        (ended(139, text="import os\nm = tvm.ir.load_json(tvm.ir.save_json(m))\nos.fork()\n"), "signal"),
        (ended(139, text="import os\nm = tvm.ir.load_json(file.read())\n# os.fork()\n"), "signal"),
        (replace(ended(1), timed_out=True), "hang"),
    ],
)
def test_whose_fault_an_end_is(end: ScriptEnd, kind: object) -> None:
    ending = ending_of(end)
    assert (ending.kind if isinstance(ending, Fails) else type(ending)) == kind


def failing(message: str, *frames: str) -> Fails:
    ending = ending_of(ended(1, "said", APPLIES, CALLED, *frames, f"{message}\n"))
    assert isinstance(ending, Fails)
    return ending


CRASH = replace(stored(), symptom="crash", oracle="survives")


@pytest.mark.parametrize(
    ("recorded", "message", "same"),
    [
        ("InternalError: Check failed: (x) is false: Variable b is lost", "InternalError: Check failed: (x) is false: "
         "Variable c is lost", True),
        ("InternalError: Check failed: (x) is false: Variable b is lost", "InternalError: Check failed: (y) is false: "
         "the type is lost", False),
        ("script does not parse: no such word at all", "tvm.error.DiagnosticError: error: no such word at all", True),
        ("ValueError: Reshape of a type that it cannot have", "ValueError: Reshape of a StructInfo that it cannot have",
         False),
        ("InternalError: Expected a TensorType", "InternalError: Expected a TensorStructInfo", True),
        ("InternalError:", "InternalError: something that nobody has seen", False),
    ],
)  # fmt: skip
def test_two_messages_are_one(recorded: str, message: str, same: bool) -> None:
    case = replace(CRASH, message=recorded)
    assert is_recorded(case, failing(message), Registry()) is same


def test_a_cause_of_the_registry_is_known_by_its_other_names() -> None:
    failure = failing("InternalError: another wording", IN_PASS)
    case = replace(CRASH, message="an old wording of it", cause="the cause")
    now = "src/relax/transform/cse.cc: relax::CSE: InternalError: another wording"
    assert is_recorded(case, failure, Registry((KnownCause("the cause", "t", also=(now,)),)))
    assert not is_recorded(case, failure, Registry((KnownCause("the cause", "t"),)))


@pytest.mark.parametrize(
    ("evidence", "kind", "same"),
    [
        (Died("SIGSEGV"), "signal", True),
        (Died("SIGSEGV"), "exception", False),
        (Died("SIGSEGV"), "hang", False),
        (Died("exit status 3"), "exit", True),
        (ReferenceTrap("out-of-bounds"), "exit", False),
        (Hung(), "hang", True),
        (Hung(), "signal", False),
        (ReferenceTrap("out-of-bounds"), "signal", True),
        (ReferenceTrap("uninitialised"), "signal", False),
        (None, "signal", False),
    ],
)
def test_a_crash_a_hang_and_an_exception_are_three_failures(evidence: Evidence | None, kind: str, same: bool) -> None:
    case = replace(CRASH, evidence=evidence)
    assert is_recorded(case, Fails(kind, "m", "InternalError: m"), Registry()) is same  # type: ignore[arg-type]


def test_a_wrong_value_is_no_wrong_shape() -> None:
    value = Fails("check", "the output is 1", "AssertionError", of_form=False)
    shape = Fails("check", "the output is f(2,)", "AssertionError", of_form=True)
    case = replace(stored(), symptom="wrong result", oracle="numeric")
    assert [is_recorded(case, one, Registry()) for one in (value, shape)] == [True, False]
    other = replace(case, evidence=AnotherForm("shape"))
    assert is_recorded(other, shape, Registry())
    assert not is_recorded(replace(case, symptom="crash"), value, Registry())
    traps = [replace(case, evidence=ReferenceTrap(kind)) for kind in ("type", "uninitialised")]
    assert [is_recorded(trap, shape, Registry()) for trap in traps] == [True, False]


def test_a_script_that_reads_back_as_another_module_was_no_script_that_does_not_parse() -> None:
    check = Fails("check", "the printed script is another module", "AssertionError", "assert not mismatch")
    case = replace(stored(), symptom="round-trip", oracle="round_trip")
    assert is_recorded(case, check, Registry())
    assert not is_recorded(replace(case, evidence=NotReadBack("script")), check, Registry())
    assert not is_recorded(replace(case, evidence=NotReadBack("JSON")), check, Registry())


def test_what_a_spoilt_process_is_left_with_is_shown_by_the_script_s_own_check() -> None:
    check = Fails("check", "RLIMIT_NOFILE was 1024 and is 20", "AssertionError", "assert state()[name] >= limit")
    case = replace(stored(), symptom="crash", oracle="survives")
    assert is_recorded(replace(case, evidence=SpoiltProcess("a lower RLIMIT_NOFILE")), check, Registry())
    assert not is_recorded(replace(case, evidence=Died("SIGSEGV")), check, Registry())


def test_of_an_operator_that_is_left_any_error_of_the_build_is_the_recorded_one() -> None:
    case = replace(stored(), symptom="not executable", oracle="executable", message="relax.add is left for the VM")
    failure = failing("InternalError: CodeGenVM cannot handle this intrinsic now", IN_PASS)
    assert is_recorded(replace(case, evidence=LeftForVm()), failure, Registry())
    assert not is_recorded(case, failure, Registry())


def test_what_runs_out_of_time_is_no_regression_unless_it_hung_before() -> None:
    late = ending_of(replace(ended(1), timed_out=True))
    assert outcome_of(CRASH, late, "fails", Registry()) == "error"
    assert outcome_of(CRASH, late, "passes", Registry()) == "error"
    assert outcome_of(replace(CRASH, evidence=Hung()), late, "fails", Registry()) == "fails as known"
    assert outcome_of(CRASH, ending_of(ended(1, "killed by signal 14")), "fails", Registry()) == "changed"


def test_every_shipped_script_defines_what_it_parses() -> None:
    """The lines of a module are found in a real script."""
    from corpus.replayable import CORPUS

    script: Path = CORPUS / "20277-adjust-matmul-order-identity-permutation" / "repro.py"
    text = script.read_text()
    line = text.splitlines().index("class Module:") + 1
    frames = f'  File "{FILE}", line {line}, in <module>\n'
    assert isinstance(ending_of(ended(2, "e", frames, PARSER, "x.DiagnosticError: e\n", text=text)), Unportable)


UNINITIALISED = replace(stored(), oracle="numeric", symptom="reference trap", evidence=ReferenceTrap("uninitialised"))
LONG = "The operator is given\n" + "what it does not take, and this is said at some length, " * 8
SUBROUTINE = "InternalError('Check failed: (it != end) is false: CallNode attempted a call to callee15')"


@pytest.mark.parametrize(
    ("said", "now", "same"),
    [
        ("killed by signal 11", Fails("signal", "killed by signal 11"), True),
        ("killed by signal 11", Fails("signal", "killed by signal 6"), False),
        ("exit 3", Fails("exit", "exit 3"), True),
        (SUBROUTINE, Fails("exception", "", "tvm.error.InternalError: Check failed: (it != end) is false: CallNode "
            "attempted a call to callee7"), True),
        (SUBROUTINE, Fails("exception", "", "tvm.error.InternalError: Check failed: (n > 0) is false: too few"), False),
        ("", Fails("signal", "killed by signal 11"), False),
        ("killed by signal 14", Fails("hang", "killed by signal 14"), True),
        (repr(RuntimeError(f"{LONG} lv3")), Fails("exception", "", f"RuntimeError: {LONG} x"), True),
        (repr(ValueError("a b c d")), Fails("exception", "", "tvm.error.InternalError: a b c d"), False),
        (repr(KeyError("lv3")), Fails("exception", "", "KeyError: relax.matmul is not there"), False),
    ],
)  # fmt: skip
def test_a_script_that_shows_it_in_another_way_than_the_oracle_shows_it_as_it_did_then(
    said: str, now: Fails, same: bool
) -> None:
    case = replace(UNINITIALISED, said=told_by(said))
    assert is_recorded(case, now, Registry()) is same


def test_a_row_of_a_folder_whose_name_is_no_text_is_not_kept_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.replaying.journal.cache", lambda: tmp_path)
    journal = Journal(tmp_path / "corpus", resume=False)
    good = ReplayRow("good", "0.27.0.post1", "passes")
    journal.keep("1", replace(good, case="\udcff"))
    journal.keep("2", good)
    again = Journal(tmp_path / "corpus", resume=True)
    assert again.row("2", good.tvm) == good and again.row("1", good.tvm) is None
