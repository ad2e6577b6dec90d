"""`passfuzz reduce --interesting`: a command that gets files in the user's own style, or a function of the module."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from corpus.scripts.module_text import live_module, module_of_file
from fuzzer.oneshot.answer import Accepted, Refusal, answer_of_command, answer_of_function
from fuzzer.oneshot.style import UserStyle, style_of
from generators.tvm_api import structural_equal
from oracles.activities import Working
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

BODY = """\
@I.ir_module
class Mine:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((2, 4), "float32"):
        with R.dataflow():
            a = R.multiply(x, y)
            b = R.nn.relu(a)
            c = R.add(b, x)
            R.output(c)
        return c
"""
IMPORTS = "# my module\nfrom tvm.script import ir as I\nfrom tvm.script import relax as R\n\n\n"
PARSES = """\
import sys
import tvm

module = tvm.script.from_source(open(sys.argv[1]).read())
names = [b.value.op.name for block in module["main"].body.blocks for b in block.bindings if hasattr(b.value, "op")]
sys.exit("relax.nn.relu" not in names)
"""
FUNCTION = """\
import os, signal, sys, time
import tvm
from tvm import relax


def has_relu(mod):
    text = mod.script()
    if "R.nn.relu" not in text:
        return False
    if "R.multiply" not in text and SWITCH == "raises":
        raise ValueError("no multiply")
    if "R.multiply" not in text and SWITCH == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    mod["main"] = mod["main"].with_attr("touched", 1)
    return "R.nn.relu" in text


def refuses(mod):
    print("looked at", len(mod.functions), "functions")
    return 0


def any_module(mod):
    return True
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# --- the style of the file --------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["", IMPORTS, '"""A text."""\nimport tvm\n\n', "# only a comment\n\n"])
def test_candidates_have_the_head_and_the_name_of_the_file(head: str) -> None:
    text = head + BODY
    module = live_module(module_of_file(text))
    written = style_of(text).text(module)
    assert written.startswith(f"{head}@I.ir_module\nclass Mine:\n")
    assert structural_equal(live_module(module_of_file(written)), module)


@pytest.mark.parametrize("text", [None, "{}", "not python at all (", "import tvm\n"])
def test_what_has_no_style_is_written_plainly(text: str | None) -> None:
    assert style_of(text) == UserStyle()


def test_calls_of_functions_follow_the_name() -> None:
    text = (
        "@I.ir_module\nclass Other:\n    @R.function(private=True)\n    def f(x: R.Any) -> R.Any:\n        return x\n\n"
        "    @R.function\n    def main(x: R.Any) -> R.Any:\n        cls = Other\n        a: R.Any = cls.f(x)\n"
        "        return a\n"
    )
    module = live_module(module_of_file(text))
    written = style_of(text).text(module)
    assert "Module" not in written
    assert structural_equal(live_module(module_of_file(written)), module)


# --- commands -----------------------------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("head", ["# my module\n", ""])
def test_the_obvious_predicate_is_true(passfuzz: Any, tmp_path: Path, head: str) -> None:
    module = write(tmp_path / "module.py", head + BODY)
    check = write(tmp_path / "check.py", PARSES)
    output = tmp_path / "small.py"
    command = f"{os.sys.executable} {check}"  # type: ignore[attr-defined]
    status, stdout, stderr = passfuzz("reduce", module, "--interesting", command, "-o", output, "--time", "10m")
    assert status == 0, stderr
    assert output.read_text().startswith(f"{head}@I.ir_module\nclass Mine:\n")
    assert "R.multiply" not in output.read_text()
    assert "3 bindings -> 1" in stdout
    assert "warning" not in stderr


def test_a_refusal_shows_what_the_command_printed(passfuzz: Any, tmp_path: Path) -> None:
    module = write(tmp_path / "module.py", IMPORTS + BODY)
    command = write(tmp_path / "look.sh", "#!/bin/sh\necho first\necho '  second' >&2\nexit 3\n")
    command.chmod(0o755)
    output = tmp_path / "small.py"
    status, stdout, stderr = passfuzz("reduce", module, "--interesting", command, "-o", output)
    assert (status, stdout) == (2, "")
    assert stderr.splitlines()[:2] == ["| first", "|   second"]
    assert "ends with status 3 on the module as it is; 0 would be interesting" in stderr.splitlines()[-1]
    assert not output.exists()


def test_a_command_that_takes_no_printed_module_gets_to_keep_it(passfuzz: Any, tmp_path: Path) -> None:
    module = write(tmp_path / "module.py", IMPORTS + BODY.replace("class Mine:", "class Mine:  # by hand"))
    output = tmp_path / "small.py"
    status, _, stderr = passfuzz("reduce", module, "--interesting", "grep -q hand", "-o", output)
    assert status == 2
    assert "as TVM prints it, and accepts the file as it is" in stderr
    assert str(tmp_path / "small.candidate.py") in stderr
    assert "class Mine:\n" in (tmp_path / "small.candidate.py").read_text()


def test_a_predicate_that_takes_everything_is_warned_of(passfuzz: Any, tmp_path: Path) -> None:
    module = write(tmp_path / "module.py", BODY)
    status, _, stderr = passfuzz("reduce", module, "--interesting", "true", "-o", tmp_path / "small.py")
    assert status == 0
    assert "warning: --interesting true: accepts a module without any function" in stderr


# --- functions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("switch", ["", *(pytest.param(how, marks=pytest.mark.deep) for how in ("raises", "dies"))])
def test_a_function_is_called_with_the_module(passfuzz: Any, tmp_path: Path, switch: str) -> None:
    """What raises or dies is not interesting; what a function does to its module is its own affair."""
    module = write(tmp_path / "module.py", IMPORTS + BODY)
    check = write(tmp_path / "check.py", f"SWITCH = {switch!r}\n{FUNCTION}")
    output = tmp_path / "small.py"
    asked = ("reduce", module, "--interesting", f"{check}:has_relu", "-o", output, "--time", "10m")
    status, _, stderr = passfuzz(*asked)
    assert status == 0, stderr
    text = output.read_text()
    assert text.startswith(f"{IMPORTS}@I.ir_module\nclass Mine:\n")
    assert "R.nn.relu" in text and "R.add" not in text and "touched" not in text
    assert ("R.multiply" in text) is bool(switch)


@pytest.mark.parametrize("switch", ["", *(pytest.param(how, marks=pytest.mark.deep) for how in ("raises", "dies"))])
def test_several_candidates_at_a_time_give_the_same(passfuzz: Any, tmp_path: Path, switch: str) -> None:
    module = write(tmp_path / "module.py", IMPORTS + BODY)
    check = write(tmp_path / "check.py", f"SWITCH = {switch!r}\n{FUNCTION}")
    found = []
    for jobs in ("1", "3"):
        output = tmp_path / f"small-{jobs}.py"
        asked = ("reduce", module, "--interesting", f"{check}:has_relu", "-o", output, "--time", "10m", "--json")
        status, stdout, stderr = passfuzz(*asked, "--jobs", jobs)
        assert status == 0, stderr
        found.append((output.read_text(), json.loads(stdout)["reduced"]["oracle_calls"]))
    assert found[0] == found[1]
    assert found[0][1] > 5


def test_a_command_gets_a_file_of_its_own(passfuzz: Any, tmp_path: Path) -> None:
    """Several commands at a time do not write over the file of another."""
    module = write(tmp_path / "module.py", BODY)
    told = tmp_path / "told"
    told.mkdir()
    twice = f"""\
import os, sys, time
first = open(sys.argv[1]).read()
time.sleep(0.1)
same = first == open(sys.argv[1]).read()
open({str(told)!r} + f"/{{os.getpid()}}", "w").write(f"{{same}} {{os.path.basename(sys.argv[1])}} {{sys.argv[1]}}")
sys.exit("R.nn.relu" not in first)
"""
    command = f"{os.sys.executable} -S {write(tmp_path / 'check.py', twice)}"  # type: ignore[attr-defined]
    asked = ("reduce", module, "--interesting", command, "-o", tmp_path / "small.py", "--time", "10m", "--jobs", "4")
    status, _, stderr = passfuzz(*asked)
    assert status == 0, stderr
    lines = [file.read_text().split() for file in told.iterdir()]
    assert len(lines) > 5
    assert {(same, name) for same, name, _ in lines} == {("True", "candidate.py")}


def test_a_function_that_refuses_says_what_it_gave(passfuzz: Any, tmp_path: Path) -> None:
    module = write(tmp_path / "module.py", BODY)
    check = write(tmp_path / "check.py", f"SWITCH = ''\n{FUNCTION}")
    status, _, stderr = passfuzz("reduce", module, "--interesting", f"{check}:refuses", "-o", tmp_path / "small.py")
    assert status == 2
    assert stderr.splitlines()[0] == "| looked at 1 functions"
    assert "returns 0 on the module as it is; a true value would be interesting" in stderr.splitlines()[-1]


def hangs(module: Any) -> bool:
    while True:
        os.sched_yield()


def test_a_call_that_does_not_end_is_not_interesting(tmp_path: Path) -> None:
    module: Any = Working("any object")
    for answer in (answer_of_function(hangs, module, 0.2, True), answer_of_command(["sleep", "99"], 0.2, True)):
        assert isinstance(answer, Refusal)
        assert "within 0.2 s" in answer.how


def test_what_is_printed_is_kept_where_it_is_wanted() -> None:
    module: Any = Working("any object")
    assert isinstance(answer_of_function(lambda given: given is not None, module, HANGS_S, False), Accepted)
    said = answer_of_command(["sh", "-c", "echo out; echo err >&2; exit 9"], HANGS_S, True)
    assert said == Refusal("ends with status 9", "0 would be interesting", "out\nerr\n")
    said = answer_of_command(["/nowhere/at/all"], HANGS_S, True)
    assert isinstance(said, Refusal) and "cannot be run" in said.how
