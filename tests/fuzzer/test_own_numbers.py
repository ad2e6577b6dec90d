"""--inputs, --rtol and --atol: what is refused in one line, and what `check` makes of them on a deep module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

from benchmarks.decided_modules import MODULES
from fuzzer.commands.check import check_module
from fuzzer.commands.reduce import reduce_case
from fuzzer.commands.reduce_asked import ReduceOptions
from fuzzer.errors import UsageError
from fuzzer.oneshot.given import NotGiven, given_call
from fuzzer.own_numbers import DRAWN, OwnNumbers, read_own_numbers
from fuzzer.trial.subject.inputs import drawn_calls
from generators.case import Shape
from oracles.tolerance import Tolerance
from tests.oracles.oracle_bench import module_of

pytestmark = pytest.mark.warm

X = np.arange(6, dtype=np.float32).reshape(2, 3)
MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 3), "float32"),
        w: R.Tuple(R.Tensor((3,), "bfloat16"), R.Tensor(("n",), "int32")),
        s: R.Shape(["n", 2]),
    ) -> R.Tensor(("n", 3), "float32"):
        return x
"""


def arrays(**changed: Any) -> dict[str, Any]:
    good = {"x": X, "w.0": np.zeros(3, "V2"), "w.1": np.zeros(2, np.int32), "s": np.array([2, 2])}
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def test_arrays_go_to_the_parameters_that_they_name() -> None:
    call = given_call(module_of(MODULE), arrays())
    x, (half, whole), shape = call.arguments  # type: ignore[misc]
    assert call.function == "main" and np.array_equal(x, X) and shape == Shape((2, 2))
    assert half.dtype.name == "bfloat16" and whole.shape == (2,)


def test_parameters_have_numbers_too() -> None:
    numbered = {name.replace("x", "arg0").replace("w", "arg1").replace("s", "arg2"): a for name, a in arrays().items()}
    assert np.array_equal(given_call(module_of(MODULE), numbered).arguments[0], X)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": None}, "x: missing"),
        ({"x": X.astype("float64")}, "x: is float64, not float32"),
        ({"x": X[0]}, "x: has shape [3], not 2 dimensions"),
        ({"x": X[:, :2]}, "x: has shape [2, 2], not [2, 3]"),
        ({"w.1": np.zeros(5, np.int32)}, "w.1: has shape [5], not [2]"),
        ({"s": np.array([2, 3])}, "s: has shape [2, 3], not [2, 2]"),
        ({"s": np.array([0.5])}, "s: a vector of whole numbers is wanted"),
        ({"weight": X}, "weight: no parameter of main, which takes x, w, s"),
    ],
)
def test_what_does_not_fit_is_one_line(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(NotGiven) as refused:
        given_call(module_of(MODULE), arrays(**changed))
    assert str(refused.value).startswith(message)


def test_a_file_that_is_no_npz_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("not an archive")
    np.save(tmp_path / "one.npy", X)
    np.savez(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    for name in ("missing.npz", "text.npz", "one.npy", "objects.npz"):
        with pytest.raises(UsageError, match="--inputs"):
            read_own_numbers(tmp_path / name, None, None)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_tolerance_is_a_finite_number_above_zero(value: float) -> None:
    with pytest.raises(UsageError, match="--rtol"):
        read_own_numbers(None, value, None)
    with pytest.raises(UsageError, match="--atol"):
        read_own_numbers(None, None, value)


def test_one_of_both_leaves_the_other_zero() -> None:
    assert read_own_numbers(None, None, 0.5).tolerance == Tolerance(0.0, 0.5)
    assert read_own_numbers(None, None, None) == DRAWN


# --- in a process of its own ------------------------------------------------------------------------------------

SABOTAGE = """
import re
import tvm

def _wrong(module, context):
    script = module.script(show_meta=True)
    return tvm.script.from_source(re.sub(r"(R[.]nn[.]softmax[(].*), axis=-1[)]", r"\\1, axis=-2)", script))

PASSES = {"Wrong": lambda: tvm.transform.module_pass(_wrong, opt_level=0, name="Wrong")}
"""


@pytest.fixture
def encoder(tmp_path: Path) -> tuple[Path, Path]:
    module, load = tmp_path / "encoder.json", tmp_path / "mine.py"
    module.write_text(tvm.ir.save_json(MODULES["encoder 2"]()))
    load.write_text(SABOTAGE)
    return module, load


@pytest.mark.deep
@pytest.mark.usefixtures("few_other_builds")
def test_check_sees_a_wrong_pass_on_an_encoder_and_says_a_tolerance(encoder: tuple[Path, Path]) -> None:
    module, load = encoder
    result = check_module(module, ("Wrong",), None, load)
    assert [row.verdict for row in result.rows if row.oracle == "numeric"] == ["failed"]
    assert result.culprit == "Wrong"
    loose = check_module(module, ("Wrong",), None, load, own=OwnNumbers(tolerance=Tolerance(0.0, 100.0)))
    assert "failed" not in [row.verdict for row in loose.rows if row.oracle == "numeric"]
    assert any("rtol 0, atol 100, as asked" in note for note in loose.notes)


def test_wrong_inputs_end_check_with_one_line(encoder: tuple[Path, Path], tmp_path: Path) -> None:
    module, load = encoder
    (call,) = drawn_calls(MODULES["encoder 2"](), 0)
    given = {f"arg{place}": argument for place, argument in enumerate(call.arguments) if place}
    np.savez(tmp_path / "some.npz", **given)
    with pytest.raises(UsageError, match=r"--inputs .*some.npz: x: missing"):
        check_module(module, ("Wrong",), None, load, own=read_own_numbers(tmp_path / "some.npz", None, None))


def test_a_command_of_the_users_compares_numbers_itself(encoder: tuple[Path, Path]) -> None:
    own = OwnNumbers(tolerance=Tolerance(0.1))
    with pytest.raises(UsageError, match="--interesting and --inputs"):
        reduce_case(encoder[0], ReduceOptions(interesting="true", time_s=5, own=own))
