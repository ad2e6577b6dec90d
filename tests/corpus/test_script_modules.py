"""Modules inside of scripts: which there are, and the text of one alone. Nothing runs."""

from __future__ import annotations

import pytest
import tvm

from corpus.scripts.module_text import live_module, module_of_file
from corpus.scripts.script_modules import alone, lacks_metadata, modules_in, script_part

SCRIPT = """\
import os
import tvm
from tvm.script import ir as I, relax as R, tirx as T

N = 4
M = N + 1
OTHER = os.cpu_count()


@I.ir_module
class First:
    @R.function
    def main(x: R.Tensor((N,), "float32"), y: R.Tensor((M,), "float32")) -> R.Tensor((N,), "float32"):
        return x


@tvm.script.ir_module
class Second:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return x


@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    return x


def helper(mod):
    raise SystemExit(7)


mod = First
helper(mod)
"""


def test_the_modules_of_a_script() -> None:
    assert modules_in(SCRIPT) == ("First", "Second", "main")
    assert modules_in("x = (") == ()


@pytest.mark.parametrize(("name", "extent"), [("First", 4), ("Second", 3)])
def test_a_module_alone_with_the_values_that_it_names(name: str, extent: int) -> None:
    text = alone(SCRIPT, name)
    assert text is not None
    assert "os" not in text.replace("cpu_count", "").split()
    assert "helper" not in text
    assert [line for line in text.split("\n") if "def main" in line][0] in SCRIPT
    assert text.split("\n").index(f"class {name}:") == SCRIPT.split("\n").index(f"class {name}:")
    module = live_module(module_of_file(text))
    assert int(module["main"].params[0].ty.shape[0]) == extent


def test_a_function_alone() -> None:
    text = alone(SCRIPT, "main")
    assert text is not None
    assert isinstance(live_module(module_of_file(text)), tvm.relax.Function)


@pytest.mark.parametrize("name", ["helper", "mod", "Third", ""])
def test_what_is_no_module(name: str) -> None:
    assert alone(SCRIPT, name) is None


def test_the_last_of_one_name_is_taken() -> None:
    text = alone(SCRIPT.replace("class Second", "class First"), "First")
    assert text is not None
    assert "(3,)" in text
    assert "(N,)" not in text


def test_the_part_that_only_a_script_has() -> None:
    line = SCRIPT.split("\n").index("mod = First") + 1
    assert script_part(SCRIPT) == (line, "mod = First")
    assert script_part(SCRIPT.partition("mod =")[0]) is None


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ('y = R.add(x, metadata["ir.GenericConst"][0])', True),
        ('metadata = tvm.ir.load_json("")\ny = R.add(x, metadata["ir.GenericConst"][0])', False),
        ("x = 1", False),
        ("x = (", False),
    ],
)
def test_a_script_without_its_constants(text: str, lacks: bool) -> None:
    assert lacks_metadata(text) is lacks
