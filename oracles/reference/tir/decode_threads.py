"""Decoding of what only GPU functions have: launches of threads, barriers, reductions over threads, calls of kernels.

A kernel that the host part of a function launches (SplitHostDevice) is decoded in its place, as is any PrimFunc that
another one calls: its pointers are buffers of the caller, and its threads are as many as the launch says. What the
threads mean is in `threads.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import settled
from oracles.reference.tir.context import ALONE, SET_DEVICE, Context
from oracles.reference.tir.decode_packed import PackedCallDecoder
from oracles.reference.tir.decode_pointers import (
    ANY_BOOL,
    ANY_FLOAT,
    ANY_INT,
    ANY_TYPE_INDEX,
    ANY_VALUE,
    DL_CPU,
    EMPTY,
    POINTER_TYPE,
    Address,
    Argument,
    Pointer,
    Stack,
)
from oracles.reference.tir.nodes import Allreduce, Bind, Call, Const, Expr, For, Seq, Stmt, Sync

THREAD_ATTRIBUTES = ("thread_extent", "virtual_thread")
LAUNCH_PARAMS = "tirx.kernel_launch_params"
SHARED_BYTES = "tirx.use_dyn_shared_memory"
UNROLLED = 64
"""So many turns may a loop have whose kernels have another number of threads in each."""
ANY_OPAQUE = 4
"""TVMFFIAny's type index of a bare pointer."""

SHUFFLES: dict[str, str] = {
    "tvm_warp_shuffle": "shuffle",
    "tvm_warp_shuffle_up": "shuffle_up",
    "tvm_warp_shuffle_down": "shuffle_down",
    "tvm_warp_shuffle_xor": "shuffle_xor",
    "cuda.__shfl_sync": "shuffle",
    "cuda.__shfl_up_sync": "shuffle_up",
    "cuda.__shfl_down_sync": "shuffle_down",
    "cuda.__shfl_xor_sync": "shuffle_xor",
}
"""mask, value, lane or distance, width; TVM's own builtins also say how large a warp is."""
ACTIVE_MASKS = ("tvm_warp_activemask", "cuda.__activemask")
ALL_LANES = (1 << 32) - 1
WARP = 32


class UnknownThreads(Unsupported):
    """How many threads there are is only known when the kernel is launched."""

    def __init__(self, tag: str) -> None:
        super().__init__(f"number of {tag} computed at run time")


class ThreadDecoder(PackedCallDecoder):
    """Adds threads, and calls of the other PrimFuncs of the module, which are in `context`."""

    def __init__(
        self,
        name: str,
        symbols: dict[int, int],
        arguments: Sequence[Argument] = (),
        context: Context = ALONE,
        device_type: int = DL_CPU,
    ) -> None:
        super().__init__(name, symbols, arguments, device_type)
        self.context = context
        self.launches: set[str] = set()
        """The kernels that were decoded in place."""
        self.calls: set[str] = set()
        """The functions that were."""
        self.extents: dict[str, Expr] = {}
        """How many threads the call of the kernel that is being decoded asks for, by thread tag."""
        self.reducers: list[Any] = []

    def stmt(self, node: Any) -> Stmt:
        """Any statement; in `decode.py`."""
        raise NotImplementedError

    def launched(self, node: Any) -> Stmt:
        """The body of an attribute that launches threads, for each of them."""
        tag = str(node.node.thread_tag)
        extent = settled(self.extents.get(tag) or self.expr(node.value))
        var = self.fresh(node.node.var, self.dtype(node.node.var.ty))
        if not isinstance(extent, Const):
            raise UnknownThreads(tag)
        return For(var, extent, "launch", tag, self.stmt(node.body))

    def reducing(self, node: Any) -> Stmt:
        """The body of an attribute that says how tvm_thread_allreduce combines."""
        self.reducers.append(node.node)
        body = self.stmt(node.body)
        self.reducers.pop()
        return body

    def thread_statement(self, name: str, call: Any) -> Stmt | None:
        """A call for its effect on threads; None for other calls."""
        rule = THREAD_STATEMENTS.get(name)
        return None if rule is None else rule(self, call)

    def _sync(self, call: Any) -> Stmt:
        scope = str(call.args[0].value)
        return Sync(scope, site=f"tvm_storage_sync({scope!r})")

    def _kernel(self, call: Any) -> Stmt:
        return self._launch(str(call.args[0].value), [self._passed(arg) for arg in list(call.args)[1:]])

    def host_call(self, name: str, node: Any) -> Expr | None:
        """Adds numbers that depend on other threads of the warp.

        Who is active matters to no value: it is only handed on as the mask of a shuffle.
        """
        if name in ACTIVE_MASKS:
            return Const(ALL_LANES, self.dtype(node.ty))
        if name not in SHUFFLES:
            return super().host_call(name, node)
        value, lane, width = (self.expr(arg) for arg in list(node.args)[1:4])
        return Call(SHUFFLES[name], (value, lane, width), self.dtype(node.ty))

    def _allreduce(self, call: Any) -> Stmt:
        """tvm_thread_allreduce(size, values, condition, results, threads)."""
        args = list(call.args)
        if not self.reducers:
            raise Unsupported("tirx.tvm_thread_allreduce[no reducer]")
        reducer, size = self.reducers[-1], int(args[0].value)
        left = tuple(self.fresh(var, self.dtype(var.ty)) for var in reducer.lhs)
        right = tuple(self.fresh(var, self.dtype(var.ty)) for var in reducer.rhs)
        results = []
        for place in args[2 + size : 2 + 2 * size]:
            load = place.value if type(place).__name__ == "Cast" else place
            if type(load).__name__ != "TensorLoad":
                raise Unsupported("tirx.tvm_thread_allreduce[result]")
            results.append(self.access(load.source, load.indices))
        return Allreduce(
            left,
            right,
            tuple(self.expr(part) for part in reducer.result),
            tuple(self.expr(part) for part in reducer.identity_element),
            tuple(self.expr(value) for value in args[1 : 1 + size]),
            self.expr(args[1 + size]),
            tuple(results),
            tuple(self.expr(var) for var in args[2 + 2 * size :]),
        )

    # --- calls of kernels -------------------------------------------------------------------------------------------

    def host_statement(self, name: str, call: Any) -> Stmt:
        """Adds calls of kernels, and leaves out the choice of a device."""
        if name == "tvm_call_packed":
            callee = str(call.args[0].value)
            if callee == SET_DEVICE:
                return EMPTY
            if callee in self.context.kernels:
                return self._launch(callee, [self._passed(arg) for arg in list(call.args)[1:]])
        return super().host_statement(name, call)

    def packed_lowered(self, call: Any) -> Stmt:
        """`call_packed_lowered(name, stack, begin, end)`, where the name may be that of a kernel."""
        name = str(call.args[0].value)
        if name == SET_DEVICE:
            return EMPTY
        if name not in self.context.kernels:
            return super().packed_lowered(call)
        stack = self.pointer(call.args[1])
        if not isinstance(stack, Stack):
            raise Unsupported("tirx.tvm_call_packed_lowered")
        numbers = range(self.number_of(call.args[2]), self.number_of(call.args[3]))
        return self._launch(name, [self._on_stack(stack, number) for number in numbers])

    def _passed(self, node: Any) -> Expr | Pointer:
        return self.expr(node) if type(node.ty).__name__ == "PrimType" else self.pointer(node)

    def _on_stack(self, stack: Stack, number: int) -> Expr | Pointer:
        kind, value = stack.field(number, ANY_TYPE_INDEX), stack.field(number, ANY_VALUE)
        expected = (ANY_OPAQUE,) if isinstance(value, Pointer) else (ANY_INT, ANY_BOOL, ANY_FLOAT)
        if not isinstance(kind, Const) or kind.value not in expected or isinstance(value, str):
            raise Trap("type", f"{self.name}: argument {number} of a kernel is not what its type index says")
        return value

    def _launch(self, name: str, args: list[Expr | Pointer]) -> Stmt:
        callee = self.context.kernels.get(name)
        if callee is None:
            raise Trap("undefined-variable", f"{self.name}: no kernel {name}")
        self.launches.add(name)
        params, tags = list(callee.params), [str(tag) for tag in callee.attrs.get(LAUNCH_PARAMS, ())]
        if len(args) != len(params) + len(tags):
            raise Trap("type", f"{self.name}: {name} takes {len(params)} arguments and {len(tags)} extents")
        for arg in args:
            if isinstance(arg, Address) and arg.buffer.scope == "local":
                given = arg.buffer.name or "memory"
                raise Trap("host-memory", f"{self.name}: a kernel is given {given}, which is on the host's stack")
        before = [self._bound(name, param, arg) for param, arg in zip(params, args, strict=False)]
        outer, self.extents = self.extents, {}
        for tag, extent in zip(tags, args[len(params) :], strict=True):
            if tag != SHARED_BYTES:
                if isinstance(extent, Pointer):
                    raise Trap("type", f"{self.name}: {name} is launched with a pointer for {tag}")
                self.extents[tag] = extent
        body = self.stmt(callee.body)
        self.extents = outer
        return Seq((*before, body))

    def called(self, call: Any) -> tuple[Stmt, Expr | None]:
        """A call of a PrimFunc by its GlobalVar: its body, and the number that it returns."""
        name = str(call.op.name_hint)
        callee = self.context.functions.get(name)
        if callee is None:
            raise Trap("undefined-variable", f"{self.name}: no PrimFunc {name}")
        self.calls.add(name)
        args, params = list(call.args), list(callee.params)
        if len(args) != len(params):
            raise Trap("type", f"{self.name}: {name} takes {len(params)} arguments and gets {len(args)}")
        passed = [self._passed(arg) for arg in args]
        outside = dict(self.env), dict(self.pointers), dict(self.buffers), dict(self.stacks)
        state = self.returned, self.result, self.returns, self.extents
        self.returned, self.result, self.extents = None, None, {}
        before = [self._bound(name, param, arg) for param, arg in zip(params, passed, strict=True)]
        body, result = self.stmt(callee.body), self.result
        self.env, self.pointers, self.buffers, self.stacks = outside
        self.returned, self.result, self.returns, self.extents = state
        self.ended = False
        return Seq((*before, body)), result

    def _bound(self, callee: str, param: Any, arg: Expr | Pointer) -> Stmt:
        """Gives a parameter of a function that is decoded in its place its argument."""
        expected = type(param.ty).__name__
        if isinstance(arg, Address) != (expected != "PrimType"):
            raise Trap("type", f"{self.name}: {callee} takes {param.name} as another type")
        if isinstance(arg, Address):
            if expected != POINTER_TYPE:
                return self._bound_buffer(param, arg)
            self.pointers[param.__chandle__()] = arg
            return EMPTY
        if isinstance(arg, Pointer):
            raise Unsupported("call with a pointer to no buffer")
        dtype = self.dtype(param.ty)
        if isinstance(arg, Const):
            self.env[param.__chandle__()] = Const(arg.value, dtype)
            return EMPTY
        var = self.fresh(param, dtype)
        return Bind(var, arg)

    def _bound_buffer(self, param: Any, arg: Address) -> Stmt:
        """A parameter that is a buffer: its extents that are variables are those of the argument."""
        extents = list(param.ty.shape)
        if len(extents) == len(arg.buffer.shape):
            for extent, given in zip(extents, arg.buffer.shape, strict=True):
                if type(extent).__name__ == "Var":
                    self.env[extent.__chandle__()] = Const(given, self.dtype(extent.ty))
        shape = tuple(self.number_of(extent) for extent in extents)
        if prod(shape) > prod(arg.buffer.shape):
            raise Trap("out-of-bounds", f"{self.name}: {param.name} is larger than {arg.buffer.name}")
        return self.view(param, arg, self.dtype(param.ty), shape, 0)


def is_function_call(node: Any) -> bool:
    """Whether an expression calls a PrimFunc of the module."""
    return type(node).__name__ == "Call" and type(node.op).__name__ == "GlobalVar"


THREAD_STATEMENTS: dict[str, Callable[[ThreadDecoder, Any], Stmt]] = {
    "tvm_storage_sync": ThreadDecoder._sync,
    "tvm_thread_allreduce": ThreadDecoder._allreduce,
    "call_ffi_kernel": ThreadDecoder._kernel,
}
