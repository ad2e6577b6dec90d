"""Tensor intrinsics of our own, made for a matrix product as it stands: described and done by the same loops.

Those that TVM registers for CPUs (dot_4x4 and the like) are calls of instructions that not every CPU has, nor the
reference interpreter knows.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import tirx

ELEMENT: Any = tvm.ir.TensorLoad
"""The class of what `tirx.BufferLoad` makes."""
_BUFFERS = """    A = T.match_buffer(a, {a}, "{dtype}", offset_factor=1, strides=["sa0", "sa1"])
    B = T.match_buffer(b, {b}, "{dtype}", offset_factor=1, strides=["sb0", "sb1"])
    C = T.match_buffer(c, {c}, "{out}", offset_factor=1, strides=["sc0", "sc1"])
    with T.sblock("root"):
        T.reads(C[0:{m}, 0:{n}], A[0:{m}, 0:{k}], B[0:{b0}, 0:{b1}])
        T.writes(C[0:{m}, 0:{n}])
"""
_DESCRIPTION = """        for i, j, k in T.grid({m}, {n}, {k}):
            with T.sblock("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + {product}
"""
_LOOPS = """        for i, j in T.grid({m}, {n}):
            for k in {grid}({k}):
                C[i, j] = C[i, j] + {product}
"""
_HEAD = """@T.prim_func(s_tir=True)
def {name}(a: T.handle, b: T.handle, c: T.handle):
"""


def dot_intrinsic(block: Any, extents: list[int], unrolled: bool) -> tuple[str, str]:
    """(name, statement that registers it) of an intrinsic for the inner three loops of a matrix product.

    block: stores `C[i, j] = C[i, j] + A[i, k] * B[k, j]` (or B[j, k], or casts of the factors), with axes i, j, k.
    Raises ValueError where it does not.
    """
    store = block.body
    left, right = (_loaded(f) for f in (store.value.b.a, store.value.b.b))
    axes = [v.var for v in block.iter_vars]
    if _positions(left, axes) != [0, 2] or _positions(right, axes) not in ([2, 1], [1, 2]):
        raise ValueError("not a matrix product")
    transposed = _positions(right, axes) == [1, 2]
    dtype, out = (str(x.ty.dtype).removeprefix("T.") for x in (left, store.value))
    m, n, k = extents
    sizes = {"m": m, "n": n, "k": k, "b0": n if transposed else k, "b1": k if transposed else n}
    shapes = {"a": (m, k), "b": (sizes["b0"], sizes["b1"]), "c": (m, n), "dtype": dtype, "out": out}
    name = f"passfuzz.dot_{m}x{n}x{k}_{dtype}_{out}{'_t' if transposed else ''}{'_u' if unrolled else ''}"
    widened = dtype != out
    described = _product("v", transposed, out if widened else None)
    done = _product("", transposed, out if widened else None)
    buffers = _BUFFERS.format(**sizes, **shapes)
    description = _HEAD.format(name="described") + buffers + _DESCRIPTION.format(**sizes, product=described)
    grid = "T.unroll" if unrolled else "T.serial"
    body = _HEAD.format(name="done") + buffers + _LOOPS.format(**sizes, product=done, grid=grid)
    statement = (
        f'tvm.s_tir.TensorIntrin.register("{name}", tvm.script.from_source({description!r}), '
        f"tvm.script.from_source({body!r}), override=True)"
    )
    return name, statement


def _product(prefix: str, transposed: bool, out: str | None) -> str:
    i, j, k = (f"{prefix}{name}" for name in "ijk")
    factors = [f"A[{i}, {k}]", f"B[{j}, {k}]" if transposed else f"B[{k}, {j}]"]
    if out is not None:
        factors = [f'T.Cast("{out}", {factor})' for factor in factors]
    return " * ".join(factors)


def _loaded(factor: Any) -> Any:
    """The element that a factor is, behind a cast."""
    inner = factor.value if isinstance(factor, tirx.Cast) else factor
    if not isinstance(inner, ELEMENT):
        raise ValueError("a factor that is no element")
    return inner


def _positions(load: Any, axes: list[Any]) -> list[int]:
    """Which axis each index is, -1 for none."""
    return [next((n for n, v in enumerate(axes) if index.same_as(v)), -1) for index in load.indices]
