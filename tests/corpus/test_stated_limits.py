"""The limits of the shipped registry: TVM states each in the quoted words, in a message or in its own source."""

from __future__ import annotations

import inspect
import mmap
import re
from pathlib import Path

import numpy
import pytest
import tvm
from tvm import relax, tirx
from tvm.relax.transform.legalize_ops import grad, nn
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from corpus.registry import SHIPPED, read_registry

LIMITS = {entry.case or entry.title: entry for entry in read_registry(SHIPPED).entries if entry.quote}


@I.ir_module
class TwoFunctions:
    @R.function
    def one(x: R.Tensor((1,), "float32"), w: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.add(x, w)
            R.output(a)
        return a

    @R.function
    def other(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a


@I.ir_module
class Relu:
    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        return R.nn.relu(x)


@I.ir_module
class TwoTypes:
    @R.function
    def one(w: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        R.func_attr({"num_input": 0})
        return w

    @R.function
    def other(w: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        R.func_attr({"num_input": 0})
        return w


@I.ir_module
class UnknownShape:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=1)) -> R.Tensor(dtype="float32", ndim=1):
        with R.dataflow():
            a = R.abs(x)
            R.output(a)
        return a


@I.ir_module
class BFloat16Mean:
    @R.function
    def main(x: R.Tensor((2,), "bfloat16")) -> R.Tensor((), "bfloat16"):
        with R.dataflow():
            mean = R.mean(x)
            R.output(mean)
        return mean


@I.ir_module
class ConstantInAGroup:
    @R.function(private=True)
    def group(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        R.func_attr({"Primitive": True})
        with R.dataflow():
            a = R.add(x, R.const(numpy.ones(2, "float32")))
            R.output(a)
        return a

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = ConstantInAGroup
        with R.dataflow():
            a = cls.group(x)
            R.output(a)
        return a


@I.ir_module
class LongLiteral:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((T.int64(1),), "float32"), n: T.int64):
        A[n | T.int64(-8589934592)] = T.float32(1)


def two_of_one_name() -> tvm.IRModule:
    """TVMScript would give the second parameter another name."""
    x, other = (relax.Var("x", relax.TensorType((1,), "float32")) for _ in range(2))
    return tvm.IRModule({"main": relax.Function([x, other], relax.SeqExpr([], x), R.Tensor((1,), "float32"))})


def said_by(*passes: str, module: object) -> str:
    """What the last of the passes raises."""
    *before, last = (eval(text, {"relax": relax, "tirx": tirx, "numpy": numpy}) for text in passes)
    for transform in before:
        module = transform(module)
    with pytest.raises(Exception) as raised:
        last(module)
    return str(raised.value)


def test_the_quotes_are_what_tvm_says() -> None:
    lift = said_by("relax.transform.LiftTransformParams(shared_transform=True)", module=TwoFunctions)
    types = said_by("relax.transform.LiftTransformParams(shared_transform=True)", module=TwoTypes)
    target = said_by("relax.transform.Gradient('main')", module=BFloat16Mean)
    order = ("LegalizeOps", "RemovePurityChecking", "CallTIRRewrite", "LowerRuntimeBuiltin")
    lower = said_by(*(f"relax.transform.{name}()" for name in order), module=Relu)
    constant = said_by(*(f"relax.transform.{name}()" for name in ("LegalizeOps", "FuseTIR")), module=ConstantInAGroup)
    bound = said_by("relax.transform.BindParams('main', {'x': numpy.ones(1, 'float32')})", module=two_of_one_name())
    literal = said_by("tirx.transform.ForceNarrowIndexToInt32()", module=LongLiteral)
    library = Path(tvm.__file__).parent / "lib" / "libtvm_compiler.so"
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(b"missing known shapes")
        around = data[max(0, place - 1000) : place + 1000]
    shapes = re.search(rb"[ -~]*missing known shapes[ -~]*", around)
    assert shapes is not None
    said = {
        "fold-constant-unknown-shape": said_by("relax.transform.FoldConstant()", module=UnknownShape),
        "lift-transform-params-shared-transform-true-wants-the-same": lift,
        "lift-transform-params-shared-transform-types": types,
        "gradient-target-bfloat16": target,
        "force-narrow-literal": literal,
        "lower-runtime-builtin-wants-lower-alloc-tensor-first": lower,
        "legalize-ops-leaves-convolutions-with-other-output-layouts": inspect.getsource(nn),
        "[Relax] FuseTIR takes no functions with tensor constants": constant,
        "[Relax] BindParams refuses a name that two parameters have": bound,
        "17175-unknown-shape-operand": shapes[0].decode(),
        "[Relax] LegalizeOps leaves the gradient of a pooling with a dilation": inspect.getsource(grad),
    }
    assert said.keys() == LIMITS.keys()
    for name, entry in LIMITS.items():
        assert entry.matches("another cause", said[name]), name
        assert [other for other, text in said.items() if entry.matches("another cause", text)] == [name]
