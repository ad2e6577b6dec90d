"""Module files: what is written parses back, constants are readable, and foreign code is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from tvm import relax, tirx
from tvm.runtime import script_printer

from corpus.reduce import as_case, candidate_of
from corpus.scripts.module_text import (
    CONSTANT_ELEMENTS,
    UnreadableModule,
    array_source,
    live_module,
    module_of_file,
    number_source,
    text_of,
    with_imports,
    without_imports,
)
from generators import tvm_api as T
from generators.case import Case, ModuleText, PassCall
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from tests.quick import one_in

ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array([np.nan, np.inf, -np.inf, -0.0], dtype=np.float64),
    np.array(3, dtype=np.int64),
    np.full((3, 100), 2.5, dtype=np.float16),
    np.zeros((0, 2), dtype=np.int8),
    np.array([True, False]),
    np.array([1.5, -2.0], dtype=ml_dtypes.bfloat16),
]


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
def test_array_sources_evaluate_to_the_array(array: np.ndarray) -> None:
    source = array_source(array)
    assert source is not None
    again = eval(source, {"np": np})
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_a_large_array_has_no_short_source() -> None:
    assert array_source(np.arange(65)) is None


def module_with(array: np.ndarray) -> object:
    builder = relax.BlockBuilder()
    with builder.function("main", []):
        builder.emit_func_output(builder.emit(relax.op.negative(T.constant(array, str(array.dtype)))))
    return builder.get()


def test_small_constants_are_readable() -> None:
    text = text_of(module_with(np.arange(6, dtype=np.float32).reshape(2, 3)))
    assert text.json is None
    assert "metadata" not in text.script
    assert "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]" in text.script


def test_what_is_written_under_a_newer_python_is_read_under_an_older(monkeypatch: pytest.MonkeyPatch) -> None:
    length = relax.Var("x", relax.TensorType([tirx.Var("n", "int64")], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [length]):
        builder.emit_func_output(builder.emit(relax.op.negative(length)))
    written = text_of(builder.get()).script
    monkeypatch.setattr(script_printer.sys, "version_info", (3, 12, 1))
    assert "def main[n](" in builder.get().script()
    assert text_of(builder.get()).script == written


def test_constants_that_tvm_cannot_load_are_written_out() -> None:
    """JSON of tensors of shape (6, 0) does not load in TVM 0.27."""
    module = module_with(np.zeros((6, 0), np.float32))
    text = text_of(module)
    assert "np.zeros((6, 0)" in text.script
    assert T.structural_equal(live_module(text), module)


@pytest.mark.parametrize("array", [array for array in ARRAYS if array.ndim], ids=str)
def test_constants_are_decoded_to_the_bit(array: np.ndarray) -> None:
    text = text_of(module_with(array))
    assert text.json is None
    assert f"R.const({array_source(array)}, " in text.script


def test_large_constants_survive() -> None:
    module = module_with(np.arange(CONSTANT_ELEMENTS + 1, dtype=np.float32))
    assert T.structural_equal(live_module(text_of(module)), module)


@pytest.mark.parametrize("index", one_in(2, range(12)))
def test_random_modules_come_back_from_their_file(index: int, tmp_path: Path) -> None:
    module = draw_program(SeededSource(11, index)).module
    text = text_of(module)
    path = tmp_path / "module.py"
    path.write_text(with_imports(text.script) if text.json is None else text.json)
    assert T.structural_equal(live_module(module_of_file(path.read_text(encoding="utf-8-sig"))), module)


def test_json_files_are_read(tmp_path: Path) -> None:
    module = module_with(np.ones(2, np.float32))
    path = tmp_path / "module.json"
    path.write_text(T.json_of(module))
    assert T.structural_equal(live_module(module_of_file(path.read_text(encoding="utf-8-sig"))), module)


@pytest.mark.parametrize("text", ["import os\n", "from subprocess import run\n", "class (", "{", "\0"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(text)
    with pytest.raises(UnreadableModule):
        module_of_file(path.read_text())


def test_imports_and_docstring_are_taken_off_and_put_back() -> None:
    body = "@I.ir_module\nclass Module:\n    pass\n"
    assert without_imports('"""doc"""\n' + with_imports(body)) == body


def test_a_case_becomes_a_candidate_and_back() -> None:
    module = module_with(np.ones(2, np.float32))
    case = Case(text_of(module), (PassCall("P", "p()"),), target="cuda", load="mine.py")
    assert as_case(candidate_of(case), case) == case


def test_the_campaign_process_can_import_the_room_without_tvm() -> None:
    root = Path(__file__).parents[2]
    folders = [root / "corpus", root / "corpus" / "causes", root / "corpus" / "scripts"]
    files = sorted(path.relative_to(root) for folder in folders for path in folder.glob("*.py"))
    names = [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]
    assert {"corpus.store", "corpus.causes.cause", "corpus.scripts.repro"} < set(names)
    code = f"import sys, {', '.join(names)}; sys.exit('tvm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_a_module_of_one_empty_function_is_read() -> None:
    assert live_module(
        ModuleText("@I.ir_module\nclass Module:\n    @R.function\n    def f():\n        return R.tuple()\n")
    )


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0c", "\x1c", "\x1d", "\x0b"])
def test_lines_end_where_python_ends_them(end: str) -> None:
    """What else `str.splitlines` takes for the end of a line may stand in a comment, and shifts no import."""
    text = f"# a{end}b\nimport tvm\nclass Module:\n    pass\n"
    assert without_imports(text) == f"# a{end}b\n\nclass Module:\n    pass\n"
    assert without_imports(with_imports(without_imports(text))).strip() == without_imports(text).strip()


def test_lines_of_other_systems_are_read() -> None:
    assert without_imports("import tvm\r\nclass Module:\r\n    pass\r").split() == ["class", "Module:", "pass"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (np.float64(0.25), "0.25"),
        (np.float32(0.5), "0.5"),
        (np.int64(-3), "-3"),
        (np.bool_(True), "True"),
        (np.float64("-inf"), 'float("-inf")'),
        (0.25, "0.25"),
    ],
)
def test_a_number_in_a_script_is_one_of_python(number: object, text: str) -> None:
    assert number_source(number) == text
