"""Nothing that TVM registers is forgotten: every node of TIR, every operator of a TIR call, every kind of Relax
expression and every run-time function is dispatched on by the interpreter, or excluded with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx
from tvm.tirx import PrimFunc

from oracles.reference import exclusions
from oracles.reference.exclusions import Exclusion
from oracles.reference.tir import Unsupported, intrinsics, run_prim_func
from tests.needs import needs
from tests.oracles.reference.tir import coverage

NEWEST = needs("tvm.ir.GenericConst")
"""The lists of names are those of the newest release."""

REGISTERED = (relax, s_tir)
"""Imported because importing registers."""


def types_of(*prefixes: str) -> list[str]:
    """The registered types of these dialects."""
    return [str(t) for t in tvm_ffi.registry.get_registered_type_keys() if str(t).startswith(prefixes)]


def operators_of_tir() -> list[str]:
    """The operators that a call of TIR may have."""
    return [str(name) for name in tvm.ir.Op.list_op_names() if str(name).startswith(("tirx.", "prim."))]


def covered(names: Sequence[str], known: frozenset[str], tail: Callable[[str], str]) -> list[str]:
    """The names that are known by their last part; what is known under no name stays as it is."""
    return [name for name in names if tail(name) in known] + sorted(known - {tail(name) for name in names})


def last(name: str) -> str:
    """The class name of a registered type."""
    return name.rsplit(".", 1)[-1]


def bare(name: str) -> str:
    """An operator without its dialect."""
    return name.split(".", 1)[-1]


def runtime_functions() -> list[str]:
    """The functions that the VM brings along."""
    return [str(n) for n in tvm_ffi.registry.list_global_func_names() if str(n).startswith(coverage.RUNTIME_PREFIXES)]


NODES = types_of(*(f"{dialect}." for dialect in coverage.DIALECTS))
RELAX = types_of("relax.expr.")
OPERATORS = operators_of_tir()
SHARED = coverage.relax_nodes() - {last(name) for name in RELAX}
TABLES: dict[str, tuple[Sequence[str], Sequence[str], Sequence[Exclusion]]] = {
    "nodes of TIR": (NODES, covered(NODES, coverage.tir_nodes(), last), exclusions.NODES),
    "operators of TIR": (OPERATORS, covered(OPERATORS, coverage.intrinsics_known(), bare), exclusions.INTRINSICS),
    "Relax expressions": (RELAX, covered(RELAX, coverage.relax_nodes() - SHARED, last), exclusions.RELAX),
    "run-time functions": (runtime_functions(), sorted(coverage.runtime_functions()), exclusions.RUNTIME),
}


@NEWEST
@pytest.mark.parametrize("table", TABLES)
def test_every_name_is_covered_or_excluded(table: str) -> None:
    registered, known, excluded = TABLES[table]
    assert coverage.misplaced(registered, known, excluded) == {}
    assert known


def test_expressions_that_relax_shares_with_tir_are_registered() -> None:
    assert {last(name) for name in types_of("ir.")} >= SHARED


@NEWEST
@pytest.mark.parametrize("table", TABLES)
def test_a_forgotten_name_is_noticed(table: str) -> None:
    registered, known, excluded = TABLES[table]
    new, stale, gone = "dialect.Novelty", Exclusion("dialect.Nothing", "for the test"), "dialect.Gone"
    assert coverage.misplaced([*registered, new], known, excluded) == {new: "is neither covered nor excluded"}
    assert list(coverage.misplaced(registered, known, [*excluded, stale])) == [stale.pattern]
    assert list(coverage.misplaced(registered, [*known, gone], excluded)) == [gone]
    assert list(coverage.misplaced(registered, known[1:], excluded)) == [known[0]]
    twice = Exclusion(known[0], "for the test")
    assert list(coverage.misplaced(registered, known, [*excluded, twice])) == [known[0]]


@pytest.mark.parametrize("table", TABLES)
def test_every_exclusion_has_a_reason(table: str) -> None:
    assert [entry.pattern for entry in TABLES[table][2] if len(entry.reason) < 10] == []


OPERANDS = {"pow": 2, "atan2": 2, "hypot": 2, "fmod": 2, "copysign": 2, "ldexp": 2, "nextafter": 2, "fma": 3}
"""How many operands the elementary functions of more than one have."""
NO_FUNCTION = ("isnan", "isinf", "isfinite", "reinterpret")
"""Rows for floats that give another type than their operand's."""
FLOATS = [
    name
    for name in OPERATORS
    if bare(name) not in NO_FUNCTION and "f" in getattr(intrinsics.INTRINSICS.get(bare(name)), "kinds", "")
]


def calling(name: str, count: int) -> Any:
    """B[0] = name(A[0], ...)."""
    source, target = (tirx.decl_buffer((1,), "float32", letter) for letter in "AB")
    args = [tirx.BufferLoad(source, [0])] * count
    return PrimFunc([source, target], tirx.BufferStore(target, tirx.call_intrin("float32", name, *args), [0]))


@pytest.mark.parametrize("name", FLOATS)
def test_a_covered_elementary_function_is_run(name: str) -> None:
    out = np.full(1, np.nan, np.float32)
    run_prim_func(calling(name, OPERANDS.get(bare(name), 1)), [np.ones(1, np.float32), out])
    assert not np.isnan(out[0])


@pytest.mark.parametrize("name", ["tirx.dp4a", "tirx.type_annotation", "tirx.tvm_context_id"])
def test_an_excluded_operator_is_unsupported_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match=bare(name)):
        run_prim_func(calling(name, 1), [np.ones(1, np.float32), np.ones(1, np.float32)])
