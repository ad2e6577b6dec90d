"""What runs inside of the captured command: expressions for values, definitions of functions, records of passes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator
from tvm.script import relax as R

from fuzzer.capture.expression import guessed, pass_file, readable, row_for
from fuzzer.capture.inside import made
from fuzzer.capture.inside.definitions import Definitions, Unsayable
from fuzzer.capture.inside.say import said
from generators.tvm_api import PASS_NAMES, structural_equal
from tests.oracles.oracle_bench import module_of

FACTOR = 3


class Colour(Enum):
    """An enumeration of the user's own."""

    RED = 1


class Holder:
    """A class of the user's own."""

    def __init__(self, value: int) -> None:
        self.value = value

    def double(self) -> int:
        return 2 * self.value


def scaled(number: int) -> int:
    return FACTOR * number


def again(number: int) -> int:
    return scaled(number) + 1


@mutator
class Swaps(PyExprMutator):
    """As users write passes of Relax: TVM makes another class of it."""

    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        return relax.op.subtract(call.args[FACTOR - 2], call.args[0]) if call.op.name == "relax.subtract" else call


def swapped(module: Any) -> Any:
    return tvm.IRModule({name: Swaps(module).visit_expr(function) for name, function in module.functions.items()})


def value_of(value: Any) -> Any:
    """The value that is made again of what is said of one."""
    definitions = Definitions(said)
    expression = said(value, definitions)
    names = dict(PASS_NAMES)
    exec(definitions.text, names)
    return eval(expression, names)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        0.1,
        float("inf"),
        "it's",
        b"\x00",
        (1,),
        [1, (2.5, "x")],
        {"relax.nn.conv2d": ["NHWC", "OHWI"]},
        {1, 2},
        np.float32(1.5),
        list(range(2000)),
    ],
)
def test_plain_values(value: Any) -> None:
    assert value_of(value) == value


@pytest.mark.parametrize("array", [np.arange(6, dtype="int8").reshape(2, 3), np.full((9, 9), np.nan, "float16")])
def test_arrays(array: Any) -> None:
    again = value_of(array)
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


def test_objects_of_tvm() -> None:
    x = relax.Var("x", R.Tensor((2,), "float32"))
    module = relax.BlockBuilder()
    with module.function("main", [x]):
        module.emit_func_output(x)
    whole = module.get()
    assert structural_equal(value_of(whole), whole)
    assert value_of(tvm.target.Target("llvm")).kind.name == "llvm"
    np.testing.assert_array_equal(value_of(tvm.runtime.tensor(np.ones(3))).numpy(), np.ones(3))


def test_functions_and_classes_of_the_users_own() -> None:
    limit = 5

    def inner(number: int) -> int:
        return again(number) + limit

    assert value_of(inner)(2) == 12
    assert value_of(lambda number: scaled(number) - 1)(2) == 5
    assert value_of(functools.partial(scaled, 7))() == 21
    assert value_of(Holder(4)).double() == 8
    assert value_of(Colour.RED).name == "RED"


def test_a_class_that_tvm_has_decorated_is_said_as_it_was_written() -> None:
    module = module_of(SUBTRACTS)
    found = value_of(swapped)(module)
    assert "R.subtract(y, x)" in found.script()
    assert structural_equal(found, swapped(module), map_free_vars=True)


SUBTRACTS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        return R.subtract(x, y)
"""


def test_what_is_installed_is_imported() -> None:
    definitions = Definitions(said)
    assert said(relax.transform.FuseOps, definitions) == "tvm.relax.transform.transform.FuseOps"
    assert definitions.text == ""


@pytest.mark.parametrize("value", [object(), (one for one in ()), tvm.get_global_func("ffi.ArraySize")])
def test_what_no_line_makes(value: Any) -> None:
    with pytest.raises(Unsayable):
        value_of(value)


def test_two_functions_of_one_name_are_not_mixed_up() -> None:
    def make(number: int) -> Callable[[], int]:
        def of() -> int:
            return number

        return of

    with pytest.raises(Unsayable, match="two things are called of"):
        value_of([make(1), make(2)])


def test_a_pass_is_known_by_its_info_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "MOST", 2)
    passes = [relax.transform.LegalizeOps(), relax.transform.FuseOps(), relax.transform.FuseTIR()]
    for number, transform in enumerate(passes):
        made.note(transform, f"maker{number}", (number,), {"key": "value"})
    assert made.made_by(passes[0].info) is None
    known = made.made_by(passes[2].info)
    assert known is not None
    assert known.said(repr) == "maker2(2, key='value')"


# --- expressions as people write them -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("tvm.relax.transform.transform.FuseOps(fuse_opt_level=1)", "relax.transform.FuseOps(fuse_opt_level=1)"),
        ("tvm.ir.transform.Sequential([tvm.relax.transform.transform.FuseTIR()])",
         "tvm.transform.Sequential([relax.transform.FuseTIR()])"),
        ("tvm.tirx.transform.transform.StmtSimplify()", "tirx.transform.StmtSimplify()"),
        ("relax.get_pipeline('zero')", "relax.get_pipeline('zero')"),
        ("tvm.nowhere.at_all()", "tvm.nowhere.at_all()"),
    ],
)  # fmt: skip
def test_the_shortest_name_that_means_the_same(given: str, wanted: str) -> None:
    assert readable(given) == wanted


def test_a_pass_of_which_only_the_name_was_seen() -> None:
    assert guessed("LegalizeOps") == "relax.transform.LegalizeOps()"
    assert guessed("tirx.StmtSimplify") == "tirx.transform.StmtSimplify()"
    assert guessed("no.such") == guessed("NoSuchPass") == ""


def test_the_row_is_that_of_the_constructor() -> None:
    assert row_for("LegalizeOps", "relax.transform.LegalizeOps({'relax.add': f})") == "LegalizeOps"
    assert row_for("mine", "tvm.transform.module_pass(mine, opt_level=0)") == ""


def test_the_file_of_a_pass_defines_what_load_wants() -> None:
    text, source = pass_file("mine", "make(2)", "def make(number):\n    return number", in_table=False)
    names: dict[str, Any] = {}
    exec(text, names)
    assert eval(source, names) == 2
    text, source = pass_file("LegalizeOps", "make(2)", "", in_table=True)
    assert source == "PASSES['captured']()"
