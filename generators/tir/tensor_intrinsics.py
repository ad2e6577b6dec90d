"""Tensor intrinsics of our own, made for a matrix product as it stands: described by loops, done by the same loops, by
unrolled ones, or by vectors of a row.

Those that TVM registers for CPUs (tvm/s_tir/tensor_intrin: x86, arm_cpu, riscv_cpu) are left out: they are instructions
that the target "llvm" without an mcpu does not have, so that LLVM ends the process; that of VNNI has another signature
in LLVM 22; and all read a matrix as one long row, beyond the extent that their buffer declares.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvm import tirx

from generators import tvm_api
from generators.tvm_api import Expr, Node, Var

_BUFFERS = """    A = T.match_buffer(a, {a}, "{left}", offset_factor=1, strides=["sa0", "sa1"])
    B = T.match_buffer(b, {b}, "{right}", offset_factor=1, strides=["sb0", "sb1"])
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
_VECTORS = """        for i, k in T.grid({m}, {k}):
            C[i, T.Ramp(0, 1, {n})] = C[i, T.Ramp(0, 1, {n})] + {product}
"""
_HEAD = """@T.prim_func(s_tir=True)
def {name}(a: T.handle, b: T.handle, c: T.handle):
"""
WAYS = ("serial", "unrolled", "vector")
"""How an intrinsic implements its description."""
_LANES = (2, 4, 8, 16)


def dot_intrinsic(block: Node, extents: list[int], way: str) -> tuple[str, str]:
    """(name, expression that registers it) of an intrinsic for the inner three loops of a matrix product.

    block: stores `C[i, j] = C[i, j] + A[i, k] * B[k, j]` (or B[j, k], or casts of the factors), with axes i, j, k.
    Raises ValueError where it does not. Rows of other lengths and columns are done by serial loops.
    """
    store = block.body
    left, right = (_loaded(f) for f in (store.value.b.a, store.value.b.b))
    axes = [v.var for v in block.iter_vars]
    if _positions(left, axes) != [0, 2] or _positions(right, axes) not in ([2, 1], [1, 2]):
        raise ValueError("not a matrix product")
    transposed = _positions(right, axes) == [1, 2]
    one, other, out = (tvm_api.dtype_text(x.ty.dtype) for x in (left, right, store.value))
    m, n, k = extents
    way = "serial" if way == "vector" and (transposed or n not in _LANES) else way
    sizes = {"m": m, "n": n, "k": k, "b0": n if transposed else k, "b1": k if transposed else n}
    shapes = {"a": (m, k), "b": (sizes["b0"], sizes["b1"]), "c": (m, n), "left": one, "right": other, "out": out}
    buffers = _BUFFERS.format(**sizes, **shapes)
    factors = _Factors(one, other, out, transposed)
    described = _DESCRIPTION.format(**sizes, product=factors.at("v"))
    if way == "vector":
        done = _VECTORS.format(**sizes, product=factors.of_a_row(n))
    else:
        done = _LOOPS.format(**sizes, product=factors.at(""), grid="T.unroll" if way == "unrolled" else "T.serial")
    name = f"passfuzz.dot_{m}x{n}x{k}_{one}_{other}_{out}{'_t' if transposed else ''}_{way}"
    texts = (_HEAD.format(name=title) + buffers + body for title, body in (("described", described), ("done", done)))
    functions = ", ".join(f"tvm.script.from_source({text!r})" for text in texts)
    return name, f'tvm.s_tir.TensorIntrin.register("{name}", {functions}, override=True)'


@dataclass(frozen=True, slots=True)
class _Factors:
    """The dtypes of the factors and of their product, and whether the right one is transposed."""

    left: str
    right: str
    out: str
    transposed: bool

    def at(self, prefix: str) -> str:
        """The product at one point; the names of its axes begin with the prefix."""
        i, j, k = (f"{prefix}{name}" for name in "ijk")
        other = f"B[{j}, {k}]" if self.transposed else f"B[{k}, {j}]"
        return f"{self._cast(f'A[{i}, {k}]', self.left)} * {self._cast(other, self.right)}"

    def of_a_row(self, lanes: int) -> str:
        """The products of one element with a row of the right factor."""
        row = f"T.Ramp(0, 1, {lanes})"
        other = self._cast(f"B[k, {row}]", self.right, lanes)
        return f"T.Broadcast({self._cast('A[i, k]', self.left)}, {lanes}) * {other}"

    def _cast(self, factor: str, dtype: str, lanes: int = 1) -> str:
        wanted = self.out if lanes == 1 else f"{self.out}x{lanes}"
        return factor if dtype == self.out else f'T.Cast("{wanted}", {factor})'


def _loaded(factor: Expr) -> Expr:
    """The element that a factor loads, without its cast."""
    inner = factor.value if isinstance(factor, tirx.Cast) else factor
    if not isinstance(inner, tvm_api.TensorLoad):
        raise ValueError("a factor that is no element")
    return inner


def _positions(load: Expr, axes: list[Var]) -> list[int]:
    """Which axis each index is, -1 for none."""
    return [next((n for n, v in enumerate(axes) if index.same_as(v)), -1) for index in load.indices]
