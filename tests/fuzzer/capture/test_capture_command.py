"""`passfuzz capture` on whole commands: Python scripts and pytest, exceptions, signals, hangs, and calls that do not
fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from corpus.own import is_own
from corpus.store import StoredCase, read_case
from fuzzer.processes.start import ROOT, module_command
from tests.fuzzer.module_files import GOOD

pytestmark = pytest.mark.warm

Passfuzz = Callable[..., tuple[int, str, str]]

SCRIPT = f"""\
import os
import tvm
from tvm import relax
{GOOD}

LIMIT = 1


def too_many(mod):
    return len(mod.functions) >= LIMIT


"""
RAISES = """\
@tvm.transform.module_pass(opt_level=0)
def mine(mod, ctx):
    if too_many(mod):
        raise ValueError("there are too many")
    return mod


mod = relax.transform.LegalizeOps()(Module)
print("legalized")
with tvm.target.Target("llvm"), tvm.transform.PassContext(config={"tirx.disable_assert": True}):
    tvm.transform.Sequential([relax.transform.FuseOps(fuse_opt_level=1), mine])(mod)
"""


@pytest.fixture
def captured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Captures a script in a folder of its own, into `case`: (exit status, stderr). Its stdout is in `stdout`."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *options: str) -> tuple[int, str]:
        Path("issue.py").write_text(SCRIPT + dedent(text))
        words = module_command("fuzzer.cli", "capture", "-o", "case", *options, "--", sys.executable, "issue.py")
        ended = subprocess.run(
            words, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, check=False
        )
        Path("stdout").write_text(ended.stdout)
        return ended.returncode, ended.stderr

    return run


def case() -> StoredCase:
    assert is_own(Path("case"))
    return read_case(Path("case"))


def test_an_exception_of_a_pass_of_ones_own(captured: Callable[..., tuple[int, str]]) -> None:
    status, said = captured(RAISES)
    assert status == 1
    assert (
        "captured in case: PASSES['mine']() with {'tirx.disable_assert': True} fails: ValueError: there are too many"
        in said
    )
    assert Path("stdout").read_text() == "legalized\n", "the output of the command is its own"
    assert "seen.py" not in said
    assert "\nValueError: there are too many\n" in said
    stored = case()
    assert (stored.case.passes[0].name, stored.case.load, stored.culprit) == ("mine", "passes.py", "mine")
    assert stored.case.origin.captured
    assert "R.call_tir(cls.add" in stored.case.module.script, "the module after LegalizeOps"
    text = Path("case/passes.py").read_text()
    assert "def too_many(mod):" in text
    assert "LIMIT = 1" in text
    assert "class Module" not in text


@pytest.mark.deep
def test_check_takes_the_case_from_any_folder(
    captured: Callable[..., tuple[int, str]], passfuzz: Passfuzz, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    captured(RAISES)
    monkeypatch.chdir("/")
    status, out, _ = passfuzz("check", tmp_path / "case", "--json")
    assert status == 1
    assert [row["verdict"] for row in json.loads(out)["rows"] if row["oracle"] == "survives"] == ["failed"]


@pytest.mark.deep
def test_a_signal_leaves_the_case(captured: Callable[..., tuple[int, str]]) -> None:
    text = """
    @tvm.transform.module_pass(opt_level=0)
    def dies(mod, ctx):
        os.kill(os.getpid(), 11)

    tvm.transform.Sequential([relax.transform.LegalizeOps(), dies])(Module)
    """
    status, said = captured(text)
    assert status == 1
    assert "PASSES['dies']() fails: SIGSEGV in dies" in said
    assert case().symptom == "crash"


@pytest.mark.deep
def test_a_hang_leaves_the_case(
    captured: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = """
    @tvm.transform.module_pass(opt_level=0, name="Sleeps")
    class Sleeps:
        def transform_module(self, mod, ctx):
            import time
            time.sleep(10_000)
            return mod

    Sleeps()(Module)
    """
    status, said = captured(text, "--time", "60s")
    assert status == 1
    assert "PASSES['Sleeps']() fails: no answer" in said
    assert case().symptom == "hang"


@pytest.mark.deep
def test_the_innermost_pass_of_a_build(captured: Callable[..., tuple[int, str]]) -> None:
    """LowerAllocTensor is what `tvm.compile` applies; the fault is put into it from outside."""
    text = """
    def broken():
        def of(mod, ctx):
            raise AttributeError("gone")
        return tvm.transform.module_pass(of, opt_level=0, name="broken")

    made = relax.transform.FoldConstant
    def pipeline():
        def of(mod, ctx):
            return tvm.transform.Sequential([relax.transform.LegalizeOps(), broken(), made()])(mod)
        return tvm.transform.module_pass(of, opt_level=0, name="outer")

    try:
        tvm.compile(Module, "llvm", relax_pipeline=pipeline())
    except AttributeError:
        print("caught")
    """
    status, said = captured(text)
    assert status == 0, "the command caught it and ended well"
    assert "note: the command caught the exception" in said
    assert "PASSES['broken']() fails: AttributeError: gone" in said
    assert "R.call_tir" in case().case.module.script


@pytest.mark.deep
def test_a_call_that_does_not_fail(captured: Callable[..., tuple[int, str]]) -> None:
    text = "mod = relax.transform.LegalizeOps({'relax.add': lambda bb, call: bb.call_te(tvm.topi.add, *call.args)})"
    status, said = captured(f"{text}(Module)\nrelax.transform.FuseOps()(relax.transform.LegalizeOps()(Module))\n")
    assert status == 0
    assert "no pass failed in it; nothing was captured" in said
    status, said = captured(f"{text}(Module)\n", "--pass", "LegalizeOps")
    assert status == 0
    call = case().case.passes[0]
    assert (call.name, call.source) == ("LegalizeOps", "PASSES['captured']()")
    assert "lambda bb, call: bb.call_te" in Path("case/passes.py").read_text()


@pytest.mark.deep
def test_the_nth_call_and_all_of_them(
    captured: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "mod = relax.transform.FuseOps(fuse_opt_level=0)(Module)\nrelax.transform.FuseOps(fuse_opt_level=2)(mod)\n"
    assert captured(text, "--pass", "FuseOps", "--nth", "2")[0] == 0
    assert case().case.passes[0].source == "relax.transform.FuseOps(fuse_opt_level=2)"
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert captured(text, "--all")[0] == 0
    assert sorted(path.name for path in Path("case").iterdir()) == ["000-FuseOps", "001-FuseOps"]
    status, said = captured(
        text.replace("FuseOps", "FuseTIR").replace("fuse_opt_level=0", "").replace("fuse_opt_level=2", ""),
        "--pass",
        "FuseOps",
        "-o",
        "third",
    )
    assert status == 2
    assert "--pass FuseOps: the command ended with status 0, and FuseOps was not seen" in said


@pytest.mark.deep
def test_a_test_of_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passfuzz: Passfuzz) -> None:
    """The exception that a test expects is not the one that ends another."""
    monkeypatch.chdir(tmp_path)
    Path("test_x.py").write_text(
        SCRIPT
        + """
import pytest

def failing(name):
    def of(mod, ctx):
        raise ValueError(name)
    return tvm.transform.module_pass(of, opt_level=0, name=name)

def test_expects():
    with pytest.raises(ValueError):
        failing("first")(Module)

def test_fails():
    failing("second")(Module)
"""
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_x.py"]
    status, _, said = passfuzz("capture", "-o", "case", "--", *words)
    assert status == 1
    assert "PASSES['second']() fails: ValueError: second" in said
    assert case().case.origin.file == "test_x.py::test_fails"


@pytest.mark.deep
def test_what_the_command_has_of_its_own_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passfuzz: Passfuzz
) -> None:
    """Its `sitecustomize`, its package called fuzzer, its arguments and its instruments."""
    monkeypatch.chdir(tmp_path)
    Path("fuzzer").mkdir()
    Path("fuzzer/__init__.py").write_text("OWN = 1\n")
    Path("own").mkdir()
    Path("own/sitecustomize.py").write_text("import sys\nsys.own_site = True\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    Path("issue.py").write_text(
        SCRIPT
        + """
import sys
import fuzzer
seen = []

@tvm.ir.instrument.pass_instrument
class Mine:
    def run_before_pass(self, mod, info):
        seen.append(str(info.name))

with tvm.transform.PassContext(instruments=[Mine()]):
    relax.transform.LegalizeOps()(Module)
assert (sys.own_site, fuzzer.OWN, sys.argv[1:], seen[0]) == (True, 1, ["", "--all"], "LegalizeOps")
"""
    )
    status, _, said = passfuzz("capture", "-o", "case", "--", sys.executable, "issue.py", "", "--all")
    assert (status, "ended with status 0" in said) == (0, True)


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("capture",), "Missing argument"),
        (("capture", "--", "no-such-program-anywhere"), "no-such-program-anywhere: no such program"),
        (("capture", "--", "./plain.txt"), "./plain.txt: no such program, or it may not be executed"),
        (("capture", "--all", "--pass", "FuseOps", "--", "true"), "--all and --pass"),
        (("capture", "--nth", "2", "--", "true"), "--nth 2: counts the applications of --pass NAME"),
        (("capture", "--pass", "FuseOps", "--nth", "0", "--", "true"), "--nth 0"),
        (("capture", "--time", "soon", "--", "true"), "--time soon: not a time"),
        (("capture", "-o", "full", "--", "true"), "--output full: is not empty"),
        (("capture", "-o", "case", "--", "true"), "no Python that it ran has imported tvm"),
        (("capture", "-o", "case", "--", "false"), "the command ended with status 1, and no Python"),
        (("capture", "-o", "case", "--", sys.executable, "-c", "import sys; sys.exit(3)"), "ended with status 3"),
    ],
)
def test_wrong_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    passfuzz: Passfuzz,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.txt").write_text("")
    Path("full").mkdir()
    Path("full/file").write_text("")
    status, out, err = passfuzz(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert not Path("case").exists()
