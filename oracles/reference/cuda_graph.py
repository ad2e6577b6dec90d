"""The two run-time functions that RewriteCUDAGraph calls, as ordinary calls of the functions that it has lifted.

Source: src/runtime/vm/cuda/cuda_graph_builtin.cc. A graph is captured once for each key, and launched with the
addresses of its first call from then on. So what it captures must stay where it is: storages that are kept between
calls, constants, weights, and shapes that the key names. A graph that captures anything else traps, also at its first
call, which would still be right.

Each call gets storages of its own here. The pass lets functions share them and documents that it "assumes that
multiple functions will not run concurrently" (src/relax/transform/rewrite_cuda_graph.cc, MergeAllocationPlans).
"""

from __future__ import annotations

from collections.abc import Callable

from generators.case import Shape
from oracles.reference.errors import Trap
from oracles.reference.machine import Activation, Machine
from oracles.reference.values import Closure, Runtime, Tensor, flattened

Rule = Callable[[Machine, list[Runtime], Activation], Runtime]


def _called(machine: Machine, function: Runtime, arguments: list[Runtime], what: str) -> Runtime:
    if not isinstance(function, Closure):
        raise Trap("type", f"{what} of {type(function).__name__}")
    return machine.activate(function.function, [*arguments, *function.captured], what, function.environment)


def _cached_alloc(machine: Machine, arguments: list[Runtime], frame: Activation) -> Runtime:
    """get_cached_alloc(function, key): the storages that the function makes."""
    function, _ = arguments
    return _called(machine, function, [], "an allocation for a CUDA graph")


def _run_or_capture(machine: Machine, arguments: list[Runtime], frame: Activation) -> Runtime:
    """run_or_capture(function, arguments, key[, shape]): the result of the function."""
    function, given, _, *shape = arguments
    if not isinstance(given, tuple):
        raise Trap("type", f"the arguments of a CUDA graph are {type(given).__name__}")
    for value in flattened(given):
        moving = _why_moving(value, shape, frame)
        if moving is not None:
            raise Trap("operand", f"a CUDA graph in {frame.function} captures {moving}")
    return _called(machine, function, list(given), "a CUDA graph")


def _why_moving(value: Runtime, key: list[Runtime], frame: Activation) -> str | None:
    """What a value is that another call may hold elsewhere; None where it stays."""
    match value:
        case Tensor(memory=memory) if memory is not None and memory.storage is None:
            return f"{memory.name}, which each call allocates"
        case Tensor() if any(value is one for one in flattened(frame.inputs)):
            return "an input of its function"
        case Shape() if value not in key:
            return f"the shape {list(value.extents)}, which is not in its key"
        case _:
            return None


CUDA_GRAPH: dict[str, Rule] = {
    "vm.builtin.cuda_graph.get_cached_alloc": _cached_alloc,
    "vm.builtin.cuda_graph.run_or_capture": _run_or_capture,
}
"""The functions by name; each gets the arguments of `call_builtin_with_ctx`."""
