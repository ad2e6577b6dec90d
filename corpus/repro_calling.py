"""How a repro script calls what a pass with a calling convention of its own leaves: the text of the new arguments.

The same conventions as in `oracles.calls.conventions`, read off the texts of the module and of the pass.
LazyTransformParams is not among them: its callbacks are packed functions of the whole process. No TVM is imported here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from generators.case import PassCall
from generators.passes.table import PASSES


@dataclass(slots=True)
class Way:
    """How to call a function: the sources of its arguments, and lines that come before the call.

    text: the function in the starting module, where that can be read. handed: its outputs go to a callback, by which
    they come to stand in the dict `handed`.
    """

    function: str
    arguments: list[str]
    text: ast.FunctionDef | None
    prelude: str = ""
    handed: bool = False
    names: list[str] = field(init=False)
    inputs: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.names = [] if self.text is None else [parameter.arg for parameter in self.text.args.args]
        self.inputs = None if self.text is None else _num_input(self.text)


def way_after(call: PassCall, way: Way) -> None:
    """Changes the way as the pass does."""
    row = PASSES.get(call.name)
    adapter = None if row is None else _ADAPTERS.get(row.promise.calling)
    made = ast.parse(call.source, mode="eval").body
    if adapter is not None and isinstance(made, ast.Call):
        adapter(made, way)


def _num_input(function: ast.FunctionDef) -> int | None:
    """The function's attribute `num_input`."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "num_input" and isinstance(value, ast.Constant):
                return int(str(value.value))
    return None


def _option(made: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument that a pass is constructed with."""
    named = [keyword.value for keyword in made.keywords if keyword.arg == name]
    return named[0] if named else made.args[position] if len(made.args) > position else None


def _tuple(entries: list[str]) -> str:
    return f"({', '.join(entries)}{',' if len(entries) == 1 else ''})"


def _bound(made: ast.Call, way: Way) -> None:
    """The parameters that the pass names are gone."""
    function, values = _option(made, 0, "func_name"), _option(made, 1, "params")
    if not isinstance(function, ast.Constant) or function.value != way.function or not isinstance(values, ast.Dict):
        return
    if len(way.names) != len(way.arguments):
        return  # an earlier pass has changed the parameters
    bound = {key.value for key in values.keys if isinstance(key, ast.Constant)}
    kept = [index for index, name in enumerate(way.names) if name not in bound]
    way.arguments = [way.arguments[index] for index in kept]
    way.names = [way.names[index] for index in kept]


def _bundled(made: ast.Call, way: Way) -> None:
    """The parameters after the inputs are one tuple."""
    if way.inputs is not None:
        weights = way.arguments[way.inputs :]
        way.arguments[way.inputs :] = [_tuple(weights)]


def _lifted(made: ast.Call, way: Way) -> None:
    """The weights go through the transform function; what it gives follows the inputs."""
    shared = _option(made, 0, "shared_transform")
    listed = ast.literal_eval(shared) if shared is not None else False
    if way.inputs is None or (isinstance(listed, list) and listed and way.function not in listed):
        return
    transform = "transform_params" if listed else f"{way.function}_transform_params"
    weights = way.arguments[way.inputs :]
    way.prelude += f'lifted = vm["{transform}"]({_tuple(weights)})\n'
    way.arguments[way.inputs :] = ["*lifted"]


def _fetched(made: ast.Call, way: Way) -> None:
    """One callback gives the weights."""
    inputs = way.inputs or 0
    weights = way.arguments[inputs:]
    way.prelude += f"weights = {_tuple(weights)}\n"
    way.arguments[inputs:] = ["lambda index, name: weights[index]"]
    way.inputs = inputs + 1


def _handed(made: ast.Call, way: Way) -> None:
    """A callback behind the inputs takes the outputs."""
    place = len(way.arguments) if way.inputs is None else way.inputs
    way.arguments.insert(place, "lambda index, value: handed.update({index: value.numpy()})")
    way.inputs = None if way.inputs is None else way.inputs + 1
    way.handed = True


_ADAPTERS: dict[str, Callable[[ast.Call, Way], None]] = {
    "bind_params": _bound,
    "bundle_params": _bundled,
    "lift_transform_params": _lifted,
    "lazy_get_input": _fetched,
    "lazy_set_output": _handed,
}
