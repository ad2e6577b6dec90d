"""Programs that allocate memory, for tests of the reference interpreter: PrimFuncs, and lines of mains."""

from __future__ import annotations

from typing import Any

import numpy as np

from generators.case import Argument, EntryCall, Shape
from oracles.reference.engine import Interpreter
from oracles.reference.values import Runtime, Tensor
from tests.oracles.oracle_bench import module_of

F4 = 'R.Tensor((4,), "float32")'
X = np.array([1, 2, 3, 4], np.float32)
TRUE, FALSE = np.array(True), np.array(False)

HEADER = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def inc(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(4)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(4), i)
                B[vi] = A[vi] + T.float32(1)
    @T.prim_func(private=True, s_tir=True)
    def head(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(2)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(2), i)
                B[vi] = A[vi] + T.float32(10)
    @T.prim_func(private=True, s_tir=True)
    def inc2(A: T.Buffer((T.int64(2),), "float32"), B: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(2)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(2), i)
                B[vi] = A[vi] + T.float32(1)
    @T.prim_func(private=True, s_tir=True)
    def flat(A: T.Buffer((T.int64(2), T.int64(2)), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(4)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(4), i)
                B[vi] = A[vi // T.int64(2), vi % T.int64(2)] + T.float32(1)
    @T.prim_func(private=True, s_tir=True)
    def halves(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(8),), "float16")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(8)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(8), i)
                B[vi] = T.Cast("float16", A[vi // T.int64(2)])
    @T.prim_func(private=True, s_tir=True)
    def double(A: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(4)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(4), i)
                A[vi] = A[vi] + A[vi]
"""
PARAMETERS = f'x: {F4}, y: R.Tensor((2,), "float32"), c: R.Tensor((), "bool"), s: R.Shape(["n"])'


def module(body: str, more: str = "", parameters: str = PARAMETERS) -> Any:
    """A module whose main has these lines and `more` functions next to it."""
    lines = "\n".join(f"        {line}" for line in body.strip("\n").splitlines())
    head = f"    @R.function(pure=False)\n    def main({parameters}):\n        cls = Module\n        n = T.int64()\n"
    return module_of(f"{HEADER}{more}{head}{lines}\n")


def run(body: str, more: str = "", flag: Argument = TRUE, extent: int = 4) -> Any:
    """What main gives, as nested tuples of lists."""
    arguments = (X, np.array([7, 8], np.float32), flag, Shape((extent,)))
    return plain(Interpreter(module(body, more)).run(EntryCall("main", arguments)))


def plain(value: Runtime) -> Any:
    """Tensors as lists, tuples as they are."""
    if isinstance(value, Tensor):
        return value.value.tolist()
    return tuple(plain(v) for v in value) if isinstance(value, tuple) else value


def storage(size: str, name: str = "st") -> str:
    return f'{name} = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("float32"))\n'


def tensor(name: str, offset: int = 0, extents: str = "4", dtype: str = "float32", place: str = "st") -> str:
    numbers = f"R.prim_value({offset}), R.shape([{extents}])"
    return f'{name} = R.memory.alloc_tensor({place}, {numbers}, R.dtype("{dtype}"), R.prim_value(0))\n'


def fresh(name: str) -> str:
    return f'{name} = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))\n'


def vm_storage(size: str, dtype: str) -> str:
    numbers = f"R.shape([{size}]), R.prim_value(0)"
    return f'st = R.vm.alloc_storage({numbers}, R.dtype("{dtype}"), R.str("global"))\n'


KILL_A, KILL_ST, VM_KILL = "_k = R.memory.kill_tensor(a)\n", "_s = R.memory.kill_storage(st)\n", "R.vm.kill_object"
WRITE_A, COPY = "_a = cls.inc(x, a)\n", "_o = cls.inc(a, o)\n"
VIEW = 'v = R.call_packed("vm.builtin.reshape", a, R.shape([2, 2]), ty_args=(R.Tensor((2, 2), "float32"),))\n'
HELPER = f"    @R.function(private=True, pure=False)\n    def helper(p: {F4}) -> {F4}:\n        cls = Module\n"
RETURNS_KILLED = "        _p = R.memory.kill_tensor(p)\n        return p\n"
KILLS_ITS_OWN = (
    f"        {fresh('q')}        _q = cls.inc(p, q)\n        _p = R.memory.kill_tensor(p)\n        return q\n"
)
ALLOCATES = f"        {fresh('q')}        return q\n"
FILLS = "        _p = cls.inc(p, p2)\n        return p2\n"
BRANCH_KILLS = """
if c:
    _k = R.memory.kill_tensor(a)
    r = R.add(x, x)
else:
    r = R.add(a, x)
"""
WRITE_IN_PLACE = f"z = R.call_tir_inplace(cls.double, (y1,), inplace_indices=[0], out_ty={F4})\n"
