"""Relax modules that every oracle must be quiet on, by the feature they have."""

from __future__ import annotations

HEAD = "@I.ir_module\nclass Module:\n"

DATAFLOW = (
    HEAD
    + """
    I.module_attrs({"answer": 42})
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            h = R.matmul(x, w)
            c = R.less(h, x)
            s = R.split(R.exp(h), 2, axis=1)
            d = R.add(s[0], s[1])
            g = R.reshape(d, (4,))
            o = (g, (c, h))
            R.output(o, g)
        return (o, g)
"""
)

SYMBOLIC = (
    HEAD
    + """
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), c: R.Tensor((), "bool"), s: R.Shape(["m"])):
        n, m, k = T.int64(), T.int64(), T.int64()
        cls = Module
        with R.dataflow():
            z = R.multiply(x, x)
            q = R.match_cast(R.nonzero(z), R.Tensor((2, k), "int64"))
            g = R.reshape(z, (n * 3,))
            R.output(z, q, g)
        if c:
            w = R.add(z, z)
            r = R.exp(w)
        else:
            r = z
        v = cls.sub(r, q)
        return (v, g, R.shape([n, m, k]))
    @R.function(private=True)
    def sub(x: R.Tensor(("a", 3), "float32"), y: R.Tensor((2, "b"), "int64")):
        a, b = T.int64(), T.int64()
        o = R.zeros((a, b), "float32")
        return (o, x)
"""
)

LOCAL_FUNCTION = (
    HEAD
    + """
    @R.function
    def main(x: R.Tensor((4, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        z = R.exp(x)
        @R.function
        def local(a: R.Tensor((4, 3), "float32")) -> R.Tensor((4, 3), "float32"):
            with R.dataflow():
                b = R.add(a, z)
                R.output(b)
            return b
        u = local(z)
        return u
"""
)

RECURSIVE_AND_IMPURE = (
    HEAD
    + """
    @R.function
    def main(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        c = R.less(x, R.const(1, "int64"))
        if c:
            r = R.const(1, "int64")
        else:
            y = R.subtract(x, R.const(1, "int64"))
            p = cls.main(y)
            r = R.multiply(p, x)
        return r
    @R.function(pure=False)
    def noisy(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = R.add(x, x)
        _ = R.print(y, format="{}")
        return y
"""
)

PRIM_FUNC = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def inc(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.inc, (x,), out_ty=R.Tensor((2, 3), "float32"))
            b = R.add(a, x)
            c = R.call_pure_packed("some.function", b, ty_args=(R.Tensor((2, 3), "float32"),))
            R.output(c)
        return c
"""

CLEAN: dict[str, str] = {
    "dataflow": DATAFLOW,
    "symbolic": SYMBOLIC,
    "local function": LOCAL_FUNCTION,
    "recursive and impure": RECURSIVE_AND_IMPURE,
    "prim_func": PRIM_FUNC,
}


def add_in_place(constant: str) -> str:
    """A module that adds its input in place into what the line `constant` binds as c, two float32 numbers."""
    return _ADD_IN_PLACE.replace("FRESH", constant)


_ADD_IN_PLACE = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.sblock("add"):
                vi = T.axis.spatial(2, i)
                A[vi] = A[vi] + B[vi]

    @R.function
    def main(x: R.Tensor((2,), dtype="float32")):
        cls = Module
        FRESH
        r = R.call_tir_inplace(cls.add, (c, x), out_ty=R.Tensor((2,), dtype="float32"), inplace_indices=[0])
        return r
"""
