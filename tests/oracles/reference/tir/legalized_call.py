"""Runs the `main` of a legalised one-operator module: call_tir by the TIR interpreter, or all of it by a
compiled module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import tvm
from tvm import relax

from oracles.reference.tir import run_prim_func

Array = np.ndarray[Any, Any]
Runner = Callable[[Any, list[Any], list[bool]], None]


def numpy_dtype(name: Any) -> Any:
    """The NumPy dtype of a TVM dtype."""
    text = str(name).removeprefix("T.")
    return ml_dtypes.bfloat16 if text == "bfloat16" else np.dtype(text)


class Interpreter:
    """Evaluates a dataflow of `call_tir`; anything else raises NotImplementedError. `scalars`: values of
    shape variables.
    """

    def __init__(self, module: Any, run: Runner = run_prim_func) -> None:
        self.module = module
        self.run = run
        self.values: dict[int, Any] = {}
        self.scalars: dict[int, int] = {}

    def main(self, args: Sequence[Array]) -> Any:
        """The result: an array, or a list for a tuple."""
        function = self.module["main"]
        for param, arg in zip(function.params, args, strict=True):
            self.values[param.__chandle__()] = arg
            for extent, size in zip(param.ty.shape, arg.shape, strict=True):
                if isinstance(extent, tvm.ir.Var):
                    self.scalars[extent.__chandle__()] = size
        for block in function.body.blocks:
            for binding in block.bindings:
                value = binding.value if isinstance(binding, relax.VarBinding) else None
                if value is None:
                    raise NotImplementedError(type(binding).__name__)
                self.values[binding.var.__chandle__()] = self._value(value)
        return self._value(function.body.body)

    def _value(self, expr: Any) -> Any:
        if isinstance(expr, tvm.ir.Var):
            return self.values[expr.__chandle__()]
        if isinstance(expr, tvm.ir.GenericConst):
            return expr.value.numpy()
        if isinstance(expr, tvm.ir.Tuple):
            return [self._value(field) for field in expr.fields]
        if isinstance(expr, tvm.ir.TupleGetItem):
            return self._value(expr.tuple_value)[expr.index]
        if isinstance(expr, tvm.ir.Call) and getattr(expr.op, "name", "") == "relax.call_tir":
            return self._call(expr)
        raise NotImplementedError(getattr(getattr(expr, "op", None), "name", type(expr).__name__))

    def _size(self, extent: Any) -> int:
        if isinstance(extent, tvm.tirx.IntImm):
            return int(extent.value)
        if isinstance(extent, tvm.ir.Var):
            return self.scalars[extent.__chandle__()]
        name = type(extent).__name__
        a, b = self._size(extent.a), self._size(extent.b)
        return {
            "Mul": a * b,
            "Add": a + b,
            "Sub": a - b,
            "FloorDiv": a // b if b else 0,
            "Max": max(a, b),
            "Min": min(a, b),
        }[name]

    def _call(self, call: Any) -> Any:
        inputs = [self._value(arg) for arg in call.args[1].fields] if isinstance(call.args[1], tvm.ir.Tuple) else []
        result = call.ty_args[0]
        types = list(result.fields) if isinstance(result, tvm.ir.TupleType) else [result]
        outputs = [np.empty([self._size(e) for e in ty.shape], numpy_dtype(ty.dtype)) for ty in types]
        scalars = [self._size(value) for value in call.args[2].values] if len(call.args) > 2 else []
        args = [*inputs, *outputs, *scalars]
        ready = [True] * len(inputs) + [False] * len(outputs) + [True] * len(scalars)
        self.run(self.module[call.args[0]], args, ready)
        return outputs if isinstance(result, tvm.ir.TupleType) else outputs[0]


def compiled_main(module: Any, args: Sequence[Array]) -> Any:
    """The result of the module built for LLVM, in the form of `Interpreter.main`."""
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    executable = tvm.compile(module, target=target)
    machine = relax.VirtualMachine(executable, tvm.cpu())
    result = machine["main"](*(tvm.runtime.tensor(arg) for arg in args))
    return _arrays(result)


def _arrays(result: Any) -> Any:
    if isinstance(result, tvm.runtime.Tensor):
        return result.numpy()
    return [_arrays(part) for part in result]
