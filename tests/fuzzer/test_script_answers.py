"""What scripts answer is what replay reads: the templates that write it and the file that reads it, run together."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.answers import WORDS
from corpus.frames import FRAMES
from corpus.replayable import CORPUS
from corpus.scripts.repro_calls import Gives, ScriptCall
from fuzzer.replaying.ending import Ending, Fails, Gone, ScriptEnd, Unportable, ending_of
from fuzzer.replaying.script import parts_of
from oracles.scripts import script_for
from tests.patience import HANGS_S


def ending(tmp_path: Path, text: str) -> Ending:
    """What the end of a script says, which is run."""
    file = tmp_path / "repro.py"
    file.write_text(text)
    command = [sys.executable, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
    return ending_of(ScriptEnd(ended.returncode, ended.stdout, ended.stderr, str(file), text))


def script(does: str, oracle: str = "survives", closes: bool = False) -> str:
    """A script whose check is these lines; it imports no TVM."""
    row = script_for(oracle, None, expectations=False, on_device=False)
    given: dict[str, Any] = {"loaded": None, "module": "", "once": "", "kernels": False, "passes": "", "hang_s": None}
    given |= {"script": row, "check": f"{does}\n", "named_target": None, "bounds_memory": False}
    body = FRAMES.get_template("body.py.j2").render(given, alarm_s=int(HANGS_S), closes=closes)
    frame = FRAMES.get_template("script.py.j2")
    given = {"late_annotations": False, "fill": None, "kernels": False, "imports": "import signal", "closes": closes}
    return frame.render(given, title="t", script=row, body=body)


@pytest.mark.parametrize(
    ("does", "found"),
    [
        ("pass", Gone),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "signal"),
        ("os.kill(os.getpid(), signal.SIGPROF)", "hang"),
        ("os.kill(os.getpid(), signal.SIGALRM)", "hang"),
        ("os._exit(3)", "exit"),
        ("assert False, 'wrong'", "check"),
        ("print('this needs a GPU', flush=True)\nfinished[0] = 1\nos._exit(2)", Unportable),
        ("sys.exit(7)", "exit"),
    ],
)
def test_how_a_child_ends_is_read_as_it_is_said(tmp_path: Path, does: str, found: object) -> None:
    said = ending(tmp_path, script(does))
    assert (said.kind if isinstance(said, Fails) else type(said)) == found


@pytest.mark.parametrize(
    ("does", "kind"),
    [
        ("os.closerange(1, 3)\nraise ValueError('unheard')", "exit"),
        ("os.closerange(1, 3)", "exit"),
        ("os.closerange(3, 100)", "exit"),
    ],
)
def test_a_child_whose_descriptors_are_closed_has_ended_itself(tmp_path: Path, does: str, kind: str) -> None:
    said = ending(tmp_path, script(does, closes=True))
    assert isinstance(said, Fails)
    assert said.kind == kind


@pytest.mark.parametrize(("does", "found"), [("pass", Gone), ("assert False, 'wrong'", "check")])
def test_so_is_the_end_of_a_script_without_a_child(tmp_path: Path, does: str, found: object) -> None:
    said = ending(tmp_path, script(does, "idempotence"))
    assert (said.kind if isinstance(said, Fails) else type(said)) == found


TWO = np.array([1.0, 2.0], np.float32)
MADE = """
import numpy as np

class Made:
    def __init__(self, array):
        self.array = array
    def numpy(self):
        return self.array

vm = {"main": lambda: %s}
"""


@pytest.mark.parametrize(
    ("gives", "result", "of_form"),
    [
        ("tensor", "Made(np.array([1, 2], 'float32'))", None),
        ("tensor", "Made(np.array([1, 3], 'float32'))", False),
        ("tensor", "Made(np.array([1, 2], 'float64'))", True),
        ("tensor", "Made(np.array([[1, 2]], 'float32'))", True),
        ("tensors", "[Made(np.array([1, 2], 'float32'))]", None),
        ("tensors", "[Made(np.array([1, 3], 'float32'))]", False),
        ("tensors", "[Made(np.array([1, 2], 'int32'))]", True),
        ("tensors", "[Made(np.array([1, 2], 'float32'))] * 2", True),
    ],
)
def test_results_of_another_form_are_told_from_other_values(
    tmp_path: Path, gives: Gives, result: str, of_form: bool | None
) -> None:
    wanted = "np.array([1, 2], 'float32')"
    call = ScriptCall("main", "", [], [], gives, [wanted], ["0.0"], ["0.0"], frozenset({"float32"}), any_value=False)
    calls = FRAMES.get_template("calls.py.j2").render(
        machine=None, device="", compiled="", calls=[call], repeated=False, plain=False, compares=True
    )
    said = ending(tmp_path, script(MADE % result + calls, "idempotence"))
    assert (said.of_form if isinstance(said, Fails) else None) == of_form


def test_a_module_of_json_is_known_by_the_lines_that_read_it() -> None:
    text = FRAMES.get_template("module_json.py.j2").render(single=False, plain=False)
    parts = parts_of(text)
    assert parts.loads
    assert ["load_json" in line for line in text.splitlines()] == [
        number in parts.module for number, _ in enumerate(text.splitlines(), 1)
    ]
    assert not parts_of("copy = tvm.ir.load_json(tvm.ir.save_json(mod))").loads


def test_scripts_of_the_corpus_have_the_parts_that_are_looked_for() -> None:
    """However old they are: a script that compares results asserts their form, and one that may crash forks."""
    texts = {path.parent.name: path.read_text() for path in sorted(CORPUS.glob("*/repro.py"))}
    parts = {name: parts_of(text) for name, text in texts.items()}
    assert {name for name, one in parts.items() if not one.module} == set()
    compared = {name for name, text in texts.items() if 'vm["' in text or "wanted = [" in text}
    assert {name for name in compared if not parts[name].form} == set()
    assert {name for name, text in texts.items() if "fork()" in text} == {n for n, one in parts.items() if one.forks}
    assert {name for name, one in parts.items() if one.loads} == {
        path.parent.name for path in CORPUS.glob("*/module.json")
    }


def test_a_text_that_is_no_python_has_no_parts() -> None:
    assert parts_of("def (") == parts_of("\0") == parts_of("")


def test_words_of_conditions_are_written_as_python_prints_them() -> None:
    """So that the reader, who compares what Python prints, finds them."""
    conditions = [WORDS["SAME_FORM"], WORDS["SAME_COUNT"]]
    assert [ast.unparse(ast.parse(one, mode="eval")) for one in conditions] == conditions
