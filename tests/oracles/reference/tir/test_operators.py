"""The TIR interpreter on the PrimFuncs of every legalised operator: plain loops, and the module built for
LLVM, give the same.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from oracles.reference.tir import engine, run_prim_func
from oracles.reference.tir.folds import fold_int_add
from tests.needs import needs
from tests.oracles.reference.tir.legalized_call import Interpreter, compiled_main
from tests.oracles.reference.tir.relax_nn_rows import all_rows
from tests.oracles.reference.tir.relax_op_rows import OpRow, draw_operand, legalize

Array = np.ndarray[Any, Any]
ROWS = {row.name: row for row in all_rows()}
SAMPLE = sorted(ROWS)[::9]
# A float16 result of LLVM may carry float32 intermediates; the rest is libm against a correctly rounded function.
TOLERANCE = {2: 2e-2, 4: 2e-5, 8: 1e-12}


def operands(row: OpRow) -> list[Array]:
    """Drawn inputs."""
    return [draw_operand(spec, np.random.default_rng(7 + n)) for n, spec in enumerate(row.operands)]


def flat(result: Any) -> list[Array]:
    """The arrays of a nested result."""
    return [leaf for part in result for leaf in flat(part)] if isinstance(result, list) else [result]


def both_ways(pairs: list[tuple[Any, Any]], func: Any, args: list[Any], ready: list[bool]) -> None:
    """Runs vectorised and by plain loops, and keeps what each gives."""
    plain = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    signature = engine.PrimFuncSignature(func)
    program = engine.compile_function(signature, func, signature.bind(plain), vectorise=False)
    known = [None if ok else np.zeros(arg.shape, bool) for arg, ok in zip(plain, ready, strict=True)]
    engine.run_program(program, plain, known)
    run_prim_func(func, args, ready)
    pairs.extend(zip(map(np.copy, args), plain, strict=True))


def agree(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> bool:
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return False
    if ours.dtype.kind in "iub":
        return np.array_equal(ours, theirs)
    bound = TOLERANCE[ours.dtype.itemsize]
    return np.allclose(ours.astype(np.float64), theirs.astype(np.float64), bound, bound, equal_nan=True)


def differences(row: OpRow) -> list[tuple[Any, Any]]:
    """Results of the interpreter beside those of the compiled module, where they disagree."""
    module, args = legalize(row), operands(row)
    got = flat(Interpreter(module).main([arg.copy() for arg in args]))
    expected = flat(compiled_main(module, args))
    return [pair for pair in zip(got, expected, strict=True) if not agree(*pair)]


WITHOUT_TE = needs("tvm.ir.TensorLoad")
"""Before, LegalizeOps leaves loads of tensor expressions (ProducerLoad) in what it makes of roi_align."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=WITHOUT_TE if n == "roi_align" else ()) for n in ROWS])
def test_vectorised_operator_is_its_loops(name: str) -> None:
    pairs: list[tuple[Any, Any]] = []
    Interpreter(legalize(ROWS[name]), partial(both_ways, pairs)).main(operands(ROWS[name]))
    assert [pair for pair in pairs if not np.array_equal(*pair, equal_nan=True)] == []


@pytest.mark.parametrize("name", SAMPLE)
def test_operator_agrees_with_llvm(name: str) -> None:
    assert differences(ROWS[name]) == []


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(set(ROWS) - set(SAMPLE)))
def test_every_operator_agrees_with_llvm(name: str) -> None:
    assert differences(ROWS[name]) == []


def test_a_sum_into_no_accumulators_is_none() -> None:
    current = np.zeros((0, 4), np.int64)
    assert fold_int_add(current, np.ones((3, 1, 4), np.int64), (3,), 2, -8, 8, "here").shape == (0, 4)
