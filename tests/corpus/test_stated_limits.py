"""The limits of the shipped registry: TVM states each in the quoted words, in a message or in its own source."""

from __future__ import annotations

import inspect

import pytest
from tvm import relax
from tvm.relax.transform.legalize_ops import nn
from tvm.script import ir as I
from tvm.script import relax as R

from corpus.registry import SHIPPED, read_registry

LIMITS = {entry.title.split()[0].partition("(")[0]: entry for entry in read_registry(SHIPPED).entries if entry.quote}


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


def said_by(*passes: str, module: object) -> str:
    """What the last of the passes raises."""
    *before, last = (eval(text, {"relax": relax}) for text in passes)
    for transform in before:
        module = transform(module)
    with pytest.raises(Exception) as raised:
        last(module)
    return str(raised.value)


def test_the_quotes_are_what_tvm_says() -> None:
    lift = said_by("relax.transform.LiftTransformParams(shared_transform=True)", module=TwoFunctions)
    order = ("LegalizeOps", "RemovePurityChecking", "CallTIRRewrite", "LowerRuntimeBuiltin")
    lower = said_by(*(f"relax.transform.{name}()" for name in order), module=Relu)
    said = {"LiftTransformParams": lift, "LowerRuntimeBuiltin": lower, "TOPI": inspect.getsource(nn)}
    assert said.keys() == LIMITS.keys()
    for name, entry in LIMITS.items():
        assert entry.matches("another cause", said[name]), name
        assert [other for other, text in said.items() if entry.matches("another cause", text)] == [name]
