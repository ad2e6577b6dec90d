"""Bad input of every kind is one line on stderr and exit status 2 or 3, and leaves nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.replayable import CORPUS
from fuzzer import cli
from tests.fuzzer.module_files import GOOD
from tests.quick import one_in

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]

Run = Callable[..., tuple[int, str]]
CASE = CORPUS / "17340-kill-after-last-use-in-dataflow"
OTHERS = (("reduce", "good.py"), ("run", "--cases", "2", "--jobs", "1", "--out", "out"), ("replay",))
IMPURE = "R.print(x, format='')"
UNCHECKED = "module(check_well_formed=False)"
ONE_PASS = "import tvm\nPASSES = {'Mine': lambda: tvm.transform.PrintIR()}\n"


@pytest.fixture
def passfuzz(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in a folder of its own; checks the form of what it says: (exit status, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSFUZZ_DEBUG", raising=False)
    files = {"good": GOOD, "one": ONE_PASS, "raises": "1 / 0\n", "ends": "raise SystemExit(4)\n"}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)

    def run(*arguments: str) -> tuple[int, str]:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith("passfuzz: error: ")
        assert shown.err.count("\n") == 1
        left = [path for path in sorted(tmp_path.rglob("*")) if path not in before and path.name != "out"]
        assert [path for path in left if "__pycache__" not in path.parts] == []
        return int(ended.value.code or 0), shown.err

    return run


# --- modules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "reduce"])
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("syntax.py", "class Module(:", "invalid syntax"),
        ("imports.py", "import os\n" + GOOD, "may import tvm and numpy only, not os"),
        ("half.json", '{"a": ', "neither TVMScript nor TVM JSON"),
        ("latin.py", b"\xff\xfe\x00", "neither TVMScript nor TVM JSON"),
    ],
)
def test_text_that_is_no_module(passfuzz: Run, command: str, name: str, text: Any, words: str) -> None:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    status, line = passfuzz(command, name)
    assert status == 2
    assert name in line
    assert words in line


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("empty.py", "", "error: empty.py: no module in it\n"),
        ("plain.py", "x = 1\n", "error: plain.py: no module in it\n"),
        ("operator.py", GOOD.replace("R.add(x, x)", "R.bogus(x, x)"), "bogus"),
        ("impure.py", GOOD.replace("R.add(x, x)", IMPURE), "not well-formed"),
        ("unchecked.py", GOOD.replace("R.add(x, x)", IMPURE).replace("module", UNCHECKED), "ill-formed before"),
        ("ill_typed.py", GOOD.replace('-> R.Tensor((2,)', '-> R.Tensor((3,)'), "ill-typed before any pass"),
        ("other.json", '{"a": 1}', "this TVM cannot read it"),
        ("node.json", json.dumps({"root_index": 7, "nodes": []}), "this TVM cannot read it"),
        ("exits.py", GOOD + "\n\nexit(0)\n", "exits.py"),
    ],
)  # fmt: skip
def test_modules_that_tvm_or_we_refuse(passfuzz: Run, name: str, text: str, words: str) -> None:
    Path(name).write_text(text)
    status, line = passfuzz("check", name, "--passes", "DeadCodeElimination")
    assert status == 2
    assert name in line
    assert words in line


# --- cases ----------------------------------------------------------------------------------------------


def _broken_json(folder: Path) -> None:
    (folder / "case.json").write_text("{")


def _no_module(folder: Path) -> None:
    (folder / "module.py").unlink()


def _no_passes(folder: Path) -> None:
    data = json.loads((folder / "case.json").read_text())
    del data["passes"]
    (folder / "case.json").write_text(json.dumps(data))


def _later_schema(folder: Path) -> None:
    data = json.loads((folder / "case.json").read_text())
    (folder / "case.json").write_text(json.dumps({**data, "schema": 999}))


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize("command", ["check", "reduce"])
@pytest.mark.parametrize("spoil", [_broken_json, _no_module, _no_passes, _later_schema, _empty])
def test_a_corrupt_case(passfuzz: Run, command: str, spoil: Callable[[Path], None]) -> None:
    shutil.copytree(CASE, "case")
    spoil(Path("case"))
    status, line = passfuzz(command, "case")
    assert status == 2
    assert "not a case: case" in line
    assert "Errno" not in line


def test_a_case_with_an_unknown_pass(passfuzz: Run) -> None:
    shutil.copytree(CASE, "case")
    data = json.loads(Path("case/case.json").read_text())
    data["passes"] = [{"name": "Gone", "source": "Gone()"}]
    Path("case/case.json").write_text(json.dumps(data))
    status, line = passfuzz("check", "case")
    assert (status, "error: case: " in line, "applies Gone" in line) == (2, True, True)
    status, line = passfuzz("check", "case", "--trust")
    assert (status, "error: case: applies Gone" in line) == (2, True)


def test_an_error_about_a_case_says_which(passfuzz: Run) -> None:
    """Not where the case came from once, as its `origin` says."""
    shutil.copytree(CASE, "case")
    text = Path("case/module.py").read_text()
    Path("case/module.py").write_text(text.replace("R.", "R.bogus."))
    for path in ("case", "case/case.json"):
        status, line = passfuzz("check", path, "--trust")
        assert status == 2
        assert line.startswith(f"passfuzz: error: {path}: this TVM cannot read it")


def test_a_case_whose_loaded_file_is_gone(passfuzz: Run) -> None:
    shutil.copytree(CASE, "case")
    data = json.loads(Path("case/case.json").read_text())
    Path("case/case.json").write_text(json.dumps({**data, "load": "/no/such/file.py"}))
    assert passfuzz("check", "case")[0] == 2


def test_a_campaign_names_the_corrupt_cases_of_its_corpus_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CASE, "corpus/a")
    shutil.copytree(CASE, "corpus/b")
    _broken_json(Path("corpus/a"))
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "--corpus", "corpus", "--cases", "1", "--jobs", "1", "--seed", "1", "--out", "out"])
    assert ended.value.code in (0, 1)
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert "corpus/a/case.json: Input data was truncated" in warnings[0]


# --- loaded files and names -----------------------------------------------------------------------------

LOADED = [
    ("raise RuntimeError('boom\\ntwo lines')", "mine.py, line 1: RuntimeError: boom\n"),
    ("x = 1\nimport sys; sys.exit(0)", "mine.py, line 2: ends the process (SystemExit: 0)"),
    ("\n\nexit()", "mine.py, line 3: ends the process (SystemExit: None)"),
    ("import json\ndef read():\n    json.loads('')\nread()", "mine.py, line 3: JSONDecodeError: Expecting value"),
    ("import sibling", "mine.py, line 1: ZeroDivisionError"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("import os; os._exit(0)", "ends the process that reads it"),
    ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ("x = 1\ndef (", "mine.py, line 2: SyntaxError: invalid syntax\n"),
    ("raise SyntaxError", "mine.py, line 1: SyntaxError: no message"),
    ("import no_such_module_anywhere", "mine.py, line 1: ModuleNotFoundError"),
    ("", "defines no PASSES"),
    ("PASSES = {}", "defines no PASSES"),
    ("PASSES = {'A': 3}", "defines no PASSES"),
    ("PASSES = {'A': lambda: 0}; CONTRACTS = {'A': {'phase': 'x'}}", "phase"),
    ("PASSES = {'A': lambda: 0}; CONTRACTS = {'A': {'phase': []}}", "phase"),
    ("PASSES = {'A': lambda: 0}; CONTRACTS = 3", "CONTRACTS"),
    ("PASSES = {'A': lambda: 0}; CONTRACTS = {'A': 3}", "CONTRACTS"),
    ("PASSES = {3: lambda: 0}", "defines no PASSES"),
    ("PASSES = {'A': lambda: 0}", "PASSES['A']() gives a value of type int"),
    ("PASSES = {\n    'A': lambda: {}['boom']}", "mine.py, line 2: PASSES['A']() raises KeyError: 'boom'"),
    ("import sys; PASSES = {'A': lambda: sys.exit(0)}", "line 1: PASSES['A']() ends the process (SystemExit: 0)"),
    ("import os; PASSES = {'A': lambda: os._exit(0)}", "ends the process that reads it"),
    ("PASSES = {'FuseOps': lambda: 0}", "FuseOps"),
]


@pytest.mark.parametrize(("text", "words"), one_in(4, LOADED))
def test_a_loaded_file_of_no_use(passfuzz: Run, text: str, words: str) -> None:
    Path("mine.py").write_text(text)
    Path("sibling.py").write_text("\n1 / 0\n")
    status, line = passfuzz("check", "good.py", "--load", "mine.py")
    assert status == 2
    assert "mine.py" in line
    assert words in line


@pytest.mark.parametrize("text", ["raise RuntimeError('boom')", "import os; os._exit(0)"])
def test_a_campaign_refuses_a_loaded_file_before_it_writes(passfuzz: Run, text: str) -> None:
    Path("mine.py").write_text(text)
    assert passfuzz("run", "--cases", "2", "--jobs", "1", "--load", "mine.py", "--out", "out")[0] == 2
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "good.py", "--load", "one.py", "--passes", "Other"),
        ("reduce", "good.py", "--load", "one.py", "--passes", "Other"),
        ("run", "--cases", "2", "--jobs", "1", "--load", "one.py", "--passes", "Other", "--out", "out"),
    ],
)
def test_a_pass_that_the_loaded_file_does_not_bring(passfuzz: Run, arguments: tuple[str, ...]) -> None:
    status, line = passfuzz(*arguments)
    assert status == 2
    assert "--passes Other: not in the pass table nor in PASSES of" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "good.py", "--passes", "@relax"), "--passes @relax"),
        (("check", "good.py", "--target", "cuda-gpu"), "--target cuda-gpu"),
        (("check", "good.py", "--load", "gone.py"), "--load gone.py: no such file"),
        (("reduce", "good.py", "--oracle", "nope", "--passes", "DeadCodeElimination"), "--oracle nope"),
        (("reduce", "good.py", "--interesting", "./nope.sh"), "no such program"),
        (("reduce", "good.py", "--interesting", "'x"), "--interesting 'x"),
        (("reduce", "good.py", "--interesting", ""), "--interesting: is empty"),
        (("reduce", "good.py", "--interesting", "false"), "ends with status 1 on the module as it is"),
        (("reduce", "good.py", "--interesting", "true", "--oracle", "numeric"), "--oracle"),
        (("reduce", "good.py", "--interesting", "true", "--passes", "DeadCodeElimination"), "--passes"),
        (("reduce", "good.py", "-o", "."), "holds other files"),
        (("reduce", "good.py", "-o", "case", "--interesting", "true"), "name a FILE.py"),
        (("reduce", "good.py", "--message", "("), "no regular expression"),
        (("reduce", "good.py", "--message", "x", "--interesting", "true"), "--message"),
        (("reduce", "good.py", "--flaky", "0"), "--flaky 0"),
        (("reduce", "good.py", "--resume"), "nothing to go on with"),
        (("reduce", "good.py", "--interesting", "gone.py:keep"), "no such file"),
        (("reduce", "good.py", "--interesting", "one.py:keep"), "no function keep in the file"),
        (
            ("reduce", "good.py", "--interesting", "raises.py:keep"),
            "raises on import: ZeroDivisionError: division by zero: ",
        ),
        (("reduce", "good.py", "--interesting", "ends.py:keep"), "importing the file ends its process"),
        (("check", "good.py:"), "good.py: no name after the colon"),
        (("run", "--cases", "2", "--oracles", "nope", "--jobs", "1", "--out", "out"), "--oracles nope"),
    ],
)
def test_wrong_usage(passfuzz: Run, arguments: tuple[str, ...], words: str) -> None:
    status, line = passfuzz(*arguments)
    assert status == 2
    assert words in line


# --- the machine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("check", "good.py"), ("run", "--cases", "2", "--out", "out")])
def test_a_target_that_needs_a_compiler(
    passfuzz: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    status, line = passfuzz(*arguments, "--target", "cuda-cpu")
    assert status == 3
    assert "--target cuda-cpu: no C++ compiler: $CXX is no-such-compiler" in line
    assert "install g++" in line


def _file_limit(patch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr("fuzzer.given_paths.TemporaryFile", refused)


FOLDERS = [
    *(("run", "--cases", "2", "--out"), ("report", "results", "--merge"), ("harvest", "results", "--output")),
    *(("reduce", "good.py", "--output"), ("promote", "results", "--corpus"), ("capture", "--output")),
]
FILES = [
    *(("reduce", "good.py", "--output"), ("triage", "results", "--known"), ("report", "results", "--update")),
    *(("replay", "--junit"), ("promote", "results", "--known")),
]


@pytest.mark.parametrize("command", FOLDERS)
@pytest.mark.parametrize("out", ["good.py/out", "/proc/out", "/proc"])
def test_an_output_folder_that_cannot_be_made(passfuzz: Run, command: tuple[str, ...], out: str) -> None:
    Path("results").mkdir()
    after = ("--", "true") if command[0] == "capture" else ()
    status, line = passfuzz(*command, out, *after)
    assert status == 3
    assert f"{command[-1]} {out}: " in line
    assert "cannot be made" in line or out == "/proc"
    assert "nothing can be written into" in line


@pytest.mark.parametrize("command", FILES)
@pytest.mark.parametrize("file", ["good.py/x.py", "/proc/x.py"])
def test_a_file_that_cannot_be_made(passfuzz: Run, command: tuple[str, ...], file: str) -> None:
    Path("results").mkdir()
    status, line = passfuzz(*command, file)
    assert status == 3
    assert f"{command[-1]} {file}: nothing can be written into " in line


@pytest.mark.parametrize("out", ["out", "."])
def test_a_full_disk_is_said_with_its_option(passfuzz: Run, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    _file_limit(monkeypatch)
    status, line = passfuzz("run", "--cases", "2", "--out", out)
    assert status == 3
    assert f"--out {out}: " in line
    assert "No space left on device" in line


@pytest.mark.parametrize("arguments", [("check", "good.py"), ("reduce", "good.py")])
def test_no_room_for_temporary_files(
    passfuzz: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def refused(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("fuzzer.oneshot.ask.os.write", refused)
    status, line = passfuzz(*arguments)
    assert status == 3
    assert "No space left on device; TMPDIR names another" in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})", "SIGSEGV"),
        ("raise ImportError('libtvm.so is gone')", "ImportError: libtvm.so is gone"),
    ],
)
@pytest.mark.parametrize(
    "arguments", [("check", "good.py"), *(pytest.param(one, marks=pytest.mark.deep) for one in OTHERS)]
)
def test_a_tvm_that_cannot_be_imported(
    passfuzz: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], text: str, words: str
) -> None:
    Path("fake/tvm").mkdir(parents=True)
    Path("fake/tvm/__init__.py").write_text(text)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((os.path.abspath("fake"), os.environ.get("PYTHONPATH", ""))))
    status, line = passfuzz(*arguments)
    assert status == 3
    assert re.search(r"TVM\b.* cannot be imported", line)
    assert words in line


@pytest.mark.parametrize("arguments", [("check", "good.py"), ("reduce", "good.py")])
@pytest.mark.parametrize(
    ("tvm", "ffi", "words"),
    [("missing", "missing", "not installed; pip install"), ("0.27.0.post1", "0.1.15", "apache-tvm-ffi==0.1.14.post1")],
)
def test_a_tvm_that_is_missing_or_mismatched(
    passfuzz: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], tvm: str, ffi: str, words: str
) -> None:
    monkeypatch.setattr("fuzzer.versions.tvm_version", lambda: tvm)
    monkeypatch.setattr("fuzzer.versions.installed", lambda *_: ffi)
    monkeypatch.setattr("fuzzer.versions.has_tvm", lambda: False)
    status, line = passfuzz(*arguments)
    assert status == 3
    assert words in line


def test_a_file_of_the_current_folder_shadows_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("random.py", "select.py", "tvm.py", "json.py"):
        Path(name).write_text("raise RuntimeError('the wrong file')")
    Path("good.py").write_text(GOOD)
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "good.py", "--passes", "DeadCodeElimination"])
    assert (ended.value.code, capsys.readouterr().err) == (0, "")
