"""Subjects that TVM has to make a module of. PyTorch is not among the packages of the tests: what would call it is
tried with a stand-in, whose functions have the parameters that TVM's own source declares."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm

from corpus.replayable import CORPUS
from corpus.scripts.module_text import live_module
from corpus.store import contents_of, read_case, write_contents
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.given_paths import existing_subject, picked
from fuzzer.oneshot import front_end, import_model
from fuzzer.oneshot.front_end import imported_module
from fuzzer.oneshot.read_case import read_subject
from tests.fuzzer.module_files import GOOD
from tests.quick import one_in

BUILDS = f"""\
{GOOD}
import sys

LIST = [1]


def build():
    return Module


def ends():
    sys.exit(0)


def raises():
    raise ValueError("first line\\nsecond")


def unended():
    import os
    os._exit(0)


def leaves_a_daemon():
    import os, pathlib, subprocess
    daemon = subprocess.Popen(["sleep", "100000"], start_new_session=True)
    pathlib.Path(__file__).with_name("daemon").write_text(str(daemon.pid))
    return Module
"""


@pytest.fixture
def onnx_file(tmp_path: Path) -> Path:
    """relu(x @ ones), with a constant."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(np.ones((3, 4), "float32"), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 4])],
        [weight],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


@pytest.mark.warm
def test_an_onnx_model_is_read_without_trust(onnx_file: Path) -> None:
    module = live_module(read_subject(onnx_file, None).module)
    text = module.script(show_meta=False)
    assert "R.matmul" in text
    assert "R.nn.relu" in text
    assert [int(extent) for extent in module["main"].params[0].ty.shape] == [2, 3]


@pytest.mark.warm
def test_what_is_no_onnx_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"garbage")
    with pytest.raises(UsageError, match="model.onnx: DecodeError"):
        read_subject(path, None)


@pytest.mark.warm
def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(b"")
    ended = SimpleNamespace(returncode=front_end.NOT_INSTALLED, stderr=b"")
    monkeypatch.setattr(front_end, "_run", lambda *_: ended)
    with pytest.raises(EnvironmentFault, match=r"wants the package torch: pip install 'passfuzz\[torch\]'"):
        read_subject(path, None, trust=True)


@pytest.mark.warm
def test_a_pytorch_program_wants_trust(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="a PyTorch program is unpickled to get its module.*--trust does it"):
        read_subject(path, None)


@pytest.mark.warm
def test_pytorch_is_called_as_tvm_documents_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for torch: no program of PyTorch is read here."""
    assert tvm.__file__ is not None
    source = Path(tvm.__file__).parent / "relax/frontend/torch/exported_program_translator.py"
    declared = next(
        node
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "from_exported_program"
    )
    parameters = [one.arg for one in (*declared.args.args, *declared.args.kwonlyargs)]
    seen: dict[str, Any] = {}

    def from_exported_program(exported_program: str, *, keep_params_as_input: bool = False) -> tvm.IRModule:
        seen.update(exported_program=exported_program, keep_params_as_input=keep_params_as_input)
        return tvm.IRModule({})

    modules = {
        "torch": SimpleNamespace(export=SimpleNamespace(load=lambda file: f"program in {file}")),
        "tvm.relax.frontend.torch": SimpleNamespace(from_exported_program=from_exported_program),
    }
    monkeypatch.setattr(import_model, "importlib", SimpleNamespace(import_module=modules.__getitem__))
    import_model.made("pt2", Path("model.pt2"), "")
    assert seen == {"exported_program": "program in model.pt2", "keep_params_as_input": False}
    assert set(inspect.signature(from_exported_program).parameters) <= set(parameters)
    assert importlib.util.find_spec("tvm.relax.frontend") is not None


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "builds.py"
    path.write_text(BUILDS)
    return path


@pytest.mark.warm
def test_a_name_that_a_script_does_not_have(script: Path) -> None:
    """Running it would not help, so no user is told to."""
    with pytest.raises(UsageError, match="builds.py: nothing in it is called biuld; its modules are") as refused:
        read_subject(Path(f"{script}:biuld"), None)
    assert "--trust" not in str(refused.value)
    script.write_text(f"{BUILDS}\nfrom elsewhere import *\n")
    with pytest.raises(UsageError, match="--trust does it"):
        read_subject(Path(f"{script}:biuld"), None)


@pytest.mark.warm
def test_what_a_script_builds(script: Path) -> None:
    with pytest.raises(UsageError, match="builds.py:build: the script is run to get its module.*--trust does it"):
        read_subject(Path(f"{script}:build"), None)
    case = read_subject(Path(f"{script}:build"), None, trust=True)
    assert "R.add" in live_module(case.module).script()


@pytest.mark.warm
@pytest.mark.parametrize(
    ("name", "words"),
    one_in(
        3,
        [
            ("gone", "the script has nothing of the name gone"),
            ("LIST", "gives a value of type list, which is no IRModule"),
            ("ends", "SystemExit: 0"),
            ("raises", "ValueError: first line"),
            ("unended", "ended with status 0"),
        ],
    ),
)
def test_what_gives_no_module(script: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        imported_module(script, "python", name, trust=True)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_a_script_starts_ends_with_it_and_keeps_nobody_waiting(script: Path) -> None:
    """It holds what the script wrote on stderr."""
    assert imported_module(script, "python", "leaves_a_daemon", trust=True).json is not None
    with pytest.raises(ProcessLookupError):
        os.kill(int(script.with_name("daemon").read_text()), 0)


# --- scripts ------------------------------------------------------------------------------------------------


@pytest.mark.warm
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + "\n\nmod = Module\n", "`mod = Module` is no part of a module; {path}:Module takes one alone"),
        (GOOD + GOOD.partition("\n\n")[2].replace("class Module", "class Other"), "holds 2 modules; {path}:Module, "),
        ("import os\n" + GOOD, "may import tvm and numpy only, not os; {path}:Module takes one alone"),
        (GOOD.replace("x, x", 'x, metadata["ir.GenericConst"][0]'), "printed without its constants (`metadata`)"),
    ],
)
def test_a_script_says_how_to_take_its_module(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "issue.py"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_subject(path, None)
    assert words.replace("{path}", str(path)) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.warm
def test_a_module_of_a_script_is_taken_alone(tmp_path: Path) -> None:
    path = tmp_path / "issue.py"
    path.write_text("import os\n" + GOOD + "\n\nos.abort()\n")
    case = read_subject(Path(f"{path}:Module"), None)
    assert "abort" not in case.module.script
    assert "R.add" in live_module(case.module).script()


@pytest.mark.warm
def test_a_name_after_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py:x", "c.json"):
        Path(name).write_text("")
    pairs: dict[str, tuple[str, str]] = {
        "a.py:x": ("a.py", "x"),
        "a.py": ("a.py", ""),
        "b.py:x": ("b.py:x", ""),
        "c.json:x": ("c.json:x", ""),
        "a.py:1": ("a.py:1", ""),
    }
    assert {given: (str(picked(Path(given))[0]), picked(Path(given))[1]) for given in pairs} == pairs
    assert existing_subject(Path("a.py:x")) == Path("a.py:x")
    with pytest.raises(UsageError, match="gone.py: no such file"):
        existing_subject(Path("gone.py:x"))


@pytest.mark.warm
def test_a_case_loads_the_file_that_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From any folder."""
    stored = read_case(CORPUS / "17340-kill-after-last-use-in-dataflow")
    stored = replace(stored, case=replace(stored.case, load="passes.py"))
    write_contents(tmp_path / "case", {**contents_of(stored, "", ""), "passes.py": b"PASSES = {}\n"})
    monkeypatch.chdir("/")
    assert read_subject(tmp_path / "case", None).load == str(tmp_path / "case" / "passes.py")
