"""Names of Relax operators that several rooms ask for, by what they do. What an operator computes is in
`generators.operators`; how the reference runs one is in `oracles.reference`."""

from __future__ import annotations

from collections.abc import Iterator

from generators.tvm_api import Expr, IRModule
from oracles.ir.walk import CALL, OP, bindings, relax_functions

BATCH_NORM = "relax.nn.batch_norm"
ALLOC_TENSOR = "relax.builtin.alloc_tensor"
"""Allocates a tensor, before memory is planned."""
TENSOR_IN_STORAGE = "relax.memory.alloc_tensor"
"""Makes a tensor in a storage, once memory is planned."""
ALLOCATE_TENSORS = frozenset({ALLOC_TENSOR, TENSOR_IN_STORAGE, "relax.vm.alloc_tensor"})
KILL = frozenset({"relax.memory.kill_tensor", "relax.memory.kill_storage"})
"""End the life of a value, as KillAfterLastUse leaves them."""
END_LIVES = KILL | {"relax.vm.kill_object"}
"""The same and what LowerRuntimeBuiltin makes of them: no later binding may name what they were given."""
CONSUMED = frozenset({"relax.hint_on_device"})
"""Operators that a pass outside the official pipelines consumes by design (RealizeVDevice): its absence is no bug."""


def operator_calls(module: IRModule) -> Iterator[tuple[Expr, str]]:
    """(call, function's name) of every bound call of a Relax operator."""
    for name, function in relax_functions(module):
        for bound in bindings(function):
            if isinstance(bound.value, CALL) and isinstance(bound.value.op, OP):
                yield bound.value, name.name_hint
