"""[Relax] AlterOpImpl gives an ill-formed module: ValueError: Operator-specific validation (FValidate) for...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim3(A: T.Buffer((18,), "float32"), B: T.Buffer((18,), "float32"), plus: T.Buffer((18,), "float32")):
        T.func_attr({"operator_name": "passfuzz.padded"})
        # with T.sblock("root"):
        for i0 in range(18):
            with T.sblock("plus"):
                v_i0 = T.axis.spatial(18, i0)
                T.reads(A[v_i0], B[v_i0])
                T.writes(plus[v_i0])
                plus[v_i0] = A[v_i0] + B[v_i0]

    @T.prim_func(private=True, s_tir=True)
    def prim4(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32"), plus: T.Buffer((7,), "int32")):
        T.func_attr({"operator_name": "passfuzz.padded_integers"})
        # with T.sblock("root"):
        for i0 in range(7):
            with T.sblock("plus"):
                v_i0 = T.axis.spatial(7, i0)
                T.reads(A[v_i0], B[v_i0])
                T.writes(plus[v_i0])
                plus[v_i0] = A[v_i0] + B[v_i0]

    @R.function
    def main(x: R.Tensor((7,), dtype="int32"), y: R.Tensor((18,), dtype="float32")) -> R.Tuple(R.Tensor((18,), dtype="float32"), R.Tensor((7,), dtype="int32")):
        cls = Module
        a = R.call_tir(cls.prim3, (y, y), out_ty=R.Tensor((18,), dtype="float32"))
        b = R.call_tir(cls.prim4, (x, x), out_ty=R.Tensor((7,), dtype="int32"))
        return (a, b)

after = relax.transform.AlterOpImpl({'passfuzz.add16': (lambda a, b: tvm.te.create_prim_func([a, b, tvm.te.compute((4,
    4), lambda i, j: a[i, j] + b[i, j], name='plus')]).without_attr('global_symbol'))(tvm.te.placeholder((4, 4),
    'float32', name='a'), tvm.te.placeholder((4, 4), 'float32', name='b')), 'passfuzz.padded': (lambda a,
    b: tvm.te.create_prim_func([a, b, tvm.te.compute((5, 4), lambda i, j: a[i, j] + b[i, j],
    name='plus')]).without_attr('global_symbol'))(tvm.te.placeholder((5, 4), 'float32', name='a'),
    tvm.te.placeholder((5, 4), 'float32', name='b')), 'passfuzz.padded_integers': (lambda a,
    b: tvm.te.create_prim_func([a, b, tvm.te.compute((4, 2), lambda i, j: a[i, j] + b[i, j],
    name='plus')]).without_attr('global_symbol'))(tvm.te.placeholder((4, 2), 'int32', name='a'),
    tvm.te.placeholder((4, 2), 'int32', name='b')), 'passfuzz.padded_twice': (lambda a, b: tvm.te.create_prim_func([a,
    b, tvm.te.compute((2, 3, 2, 2), lambda i, j, k, l: a[i, j, k, l] + b[i, j, k, l],
    name='plus')]).without_attr('global_symbol'))(tvm.te.placeholder((2, 3, 2, 2), 'float32', name='a'),
    tvm.te.placeholder((2, 3, 2, 2), 'float32', name='b')), 'passfuzz.turned': (lambda a,
    b: tvm.te.create_prim_func([a, b, tvm.te.compute((6, 4), lambda i, j: a[i, j] + b[i, j],
    name='plus')]).without_attr('global_symbol'))(tvm.te.placeholder((6, 4), 'float32', name='a'),
    tvm.te.placeholder((6, 4), 'float32', name='b')), 'passfuzz.split_turned': (lambda a,
    b: tvm.te.create_prim_func([a, b, tvm.te.compute((2, 4, 3), lambda i, j, k: a[i, j, k] + b[i, j, k],
    name='plus')]).without_attr('global_symbol'))(tvm.te.placeholder((2, 4, 3), 'float16', name='a'),
    tvm.te.placeholder((2, 4, 3), 'float16', name='b')), 'passfuzz.both': (lambda a, b: tvm.te.create_prim_func([a, b,
    tvm.te.compute((4, 2), lambda i, j: a[i, j] + b[i, j], name='plus'), tvm.te.compute((4, 2), lambda i, j: a[i,
    j] - b[i, j], name='minus')]).without_attr('global_symbol'))(tvm.te.placeholder((4, 2), 'float32', name='a'),
    tvm.te.placeholder((4, 2), 'float32', name='b')), 'passfuzz.both_padded': (lambda a,
    b: tvm.te.create_prim_func([a, b, tvm.te.compute((2, 3), lambda i, j: a[i, j] + b[i, j], name='plus'),
    tvm.te.compute((2, 3), lambda i, j: a[i, j] - b[i, j],
    name='minus')]).without_attr('global_symbol'))(tvm.te.placeholder((2, 3), 'float32', name='a'),
    tvm.te.placeholder((2, 3), 'float32', name='b'))}, {'passfuzz.add16': [lambda i: (i // 4, i % 4),
    lambda i: (i // 4, i % 4), lambda i: (i // 4, i % 4)], 'passfuzz.padded': [lambda i: (i // 4, i % 4),
    lambda i: (i // 4, i % 4), lambda i: (i // 4, i % 4)], 'passfuzz.padded_integers': [lambda i: (i // 2, i % 2),
    lambda i: (i // 2, i % 2), lambda i: (i // 2, i % 2)], 'passfuzz.padded_twice': [lambda i, j: (i // 2, j // 2,
    i % 2, j % 2), lambda i, j: (i // 2, j // 2, i % 2, j % 2), lambda i, j: (i // 2, j // 2, i % 2, j % 2)],
    'passfuzz.turned': [lambda i, j: (j, i), lambda i, j: (j, i), lambda i, j: (j, i)],
    'passfuzz.split_turned': [lambda i, j: (j // 3, i, j % 3), lambda i, j: (j // 3, i, j % 3), lambda i, j: (j // 3,
    i, j % 3)], 'passfuzz.both': [lambda i: (i % 4, i // 4), lambda i: (i % 4, i // 4), lambda i: (i % 4, i // 4),
    lambda i: (i % 4, i // 4)], 'passfuzz.both_padded': [lambda i: (i // 3, i % 3), lambda i: (i // 3, i % 3),
    lambda i: (i // 3, i % 3), lambda i: (i // 3, i % 3)]})(Module)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
