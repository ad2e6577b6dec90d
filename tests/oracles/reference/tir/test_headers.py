"""Headers of packed functions are decoded once for several passes, and mean what they do when they are decoded anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm_ffi
from tvm import tirx

from generators.passes.table import TIR_PIPELINE
from oracles.reference.tir import ALONE, Trap
from oracles.reference.tir.decode import headers
from oracles.reference.tir.decode.prim_func import decode_function
from oracles.reference.tir.equality import program_key
from oracles.reference.tir.signature import PackedSignature
from tests.oracles.reference.tir.test_lowered import PROGRAMS, applied, packed, result

LATER = TIR_PIPELINE[TIR_PIPELINE.index("tirx.MakePackedAPI") + 1 :]


def key(func: Any, args: list[Any]) -> Any:
    signature = PackedSignature(func)
    return program_key(decode_function(signature, func, signature.bind(args), ALONE))


def versions(program: str) -> list[Any]:
    """The packed function as it is after MakePackedAPI and after each later pass."""
    modules = [packed(program)]
    for name in LATER:
        modules.append(applied(name, modules[-1]))
    return [func for module in modules for func in module.functions.values()]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """An empty memory of headers."""
    empty = dict[Any, Any]()
    monkeypatch.setattr(headers, "_met", empty)
    return empty


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_remembered_header_is_what_it_is_anew(program: str, memory: dict[Any, Any]) -> None:
    functions, args = versions(program), PROGRAMS[program][1]
    assert len(functions) >= 5
    anew = []
    for func in functions:
        memory.clear()
        anew.append(key(func, args))
    memory.clear()
    known = [key(func, args) for func in functions]
    assert known == anew
    assert [key(func, args) for func in functions] == anew
    assert sum(met.settled for met in memory.values()) > 5


def test_most_of_a_header_is_met_again(memory: dict[Any, Any]) -> None:
    first, *others = versions("product")
    args = PROGRAMS["product"][1]
    key(first, args)
    before = len(memory)
    for func in others:
        key(func, args)
    assert before > 20
    assert len(memory) < 3 * before < len(others) * before


def test_other_arguments_have_a_header_of_their_own() -> None:
    module, (_, args, expected) = packed("symbolic"), PROGRAMS["symbolic"]
    assert result(module, args).tolist() == expected.tolist()
    with pytest.raises(Trap, match="assertion"):
        result(module, [args[0], args[1], np.zeros((4, 2), np.float32)])
    assert result(module, args).tolist() == expected.tolist()


def test_a_changed_statement_of_a_header_is_met_for_the_first_time() -> None:
    module, (_, args, expected) = packed("product"), PROGRAMS["product"]
    assert result(module, args).tolist() == expected.tolist()
    (func,) = module.functions.values()
    refused = []

    def refuses(node: Any) -> Any:
        if refused or not isinstance(node.condition, tirx.EQ):
            return node
        refused.append(node)
        return tirx.AssertStmt(tirx.NE(node.condition.a, node.condition.b), node.error_kind, node.message_parts)

    broken = module.clone()
    broken.update_func(
        broken.get_global_vars()[0], func.with_body(tvm_ffi.structural_map(func.body, (tirx.AssertStmt, refuses)))
    )
    assert refused
    with pytest.raises(Trap, match="assertion"):
        result(broken, args)
