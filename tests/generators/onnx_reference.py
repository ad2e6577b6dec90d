"""Single nodes of ONNX, evaluated by ONNX's own reference implementation (`onnx.reference`, in Python).

Here: a node from an operator's name, inputs and attributes. Not here: which node is which row of the operator
table (the `independent_*` files of this folder).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator


class Beyond(Exception):
    """A drawn call that the other implementation cannot do, so that there is nothing to compare."""


OPSET = 24
"""The version of the operators' definitions."""


def onnx(operator: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
    """The result of one node, a tuple of them for more than one output; None leaves out an optional input."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    given = {name: value for name, value in attributes.items() if value is not None}
    node = helper.make_node(operator, names, results, **given)
    graph = helper.make_graph(
        [node],
        operator,
        [helper.make_value_info(name, helper.make_tensor_type_proto(_element(array), None))
         for name, array in zip(names, inputs, strict=True) if name],
        [helper.make_value_info(name, helper.make_tensor_type_proto(1, None)) for name in results],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    feeds = {name: np.asarray(array) for name, array in zip(names, inputs, strict=True) if name}
    found: Any = ReferenceEvaluator(model).run(None, feeds)
    return tuple(found) if outputs > 1 else found[0]


def _element(array: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype))
