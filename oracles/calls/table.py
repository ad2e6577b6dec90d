"""The calling conventions: one row for each way in which a pass may change how a function is called.

A row of the pass table names one (`Promise.calling`). A row here holds all facts about a convention but one: its
adapter, which runs functions of live modules, needs TVM and is in a file of its own. The row names it as text, and
`oracles.calls.after_pass` imports it when it is first used. No TVM is imported here: the process of a campaign reads
this table, and writes repro scripts by it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from generators.case import PassCall
from generators.passes.row import SAME_CALLING
from generators.passes.table import PASSES
from oracles.calls.script import Way, option, tuple_source


@dataclass(frozen=True, slots=True)
class Convention:
    """One calling convention.

    contract: what a pass with this convention does to the functions of a module.
    adapter: "module:function" of an `oracles.calls.after_pass.Adapter`, which says how to call a function afterwards.
    script: changes how a repro script calls a function, as the pass does. None where the call stays what it was, and
    where a script cannot say it.
    by_name: the caller gives callbacks by names, which are arguments of the pass and do not always show in its result.
    known: whether the convention says of every function how it is called.
    """

    name: str
    contract: str
    adapter: str
    script: Callable[[ast.Call, Way], None] | None = None
    by_name: bool = False
    known: bool = True


def way_after(call: PassCall, way: Way) -> None:
    """Changes the way of calling a function as the pass does."""
    row = PASSES.get(call.name)
    convention = None if row is None else CONVENTIONS.get(row.promise.calling)
    made = ast.parse(call.source, mode="eval").body
    if convention is not None and convention.script is not None and isinstance(made, ast.Call):
        convention.script(made, way)


# --- the text of the new arguments ------------------------------------------------------------------------------


def _lifted(made: ast.Call, way: Way) -> None:
    shared = option(made, 0, "shared_transform")
    listed = ast.literal_eval(shared) if shared is not None else False
    if way.inputs is None or (isinstance(listed, list) and listed and way.function not in listed):
        return
    transform = "transform_params" if listed else f"{way.function}_transform_params"
    weights = way.arguments[way.inputs :]
    way.prelude += f'lifted = vm["{transform}"]({tuple_source(weights)})\n'
    way.arguments[way.inputs :] = ["*lifted"]


def _bundled(made: ast.Call, way: Way) -> None:
    if way.inputs is not None:
        weights = way.arguments[way.inputs :]
        way.arguments[way.inputs :] = [tuple_source(weights)]


def _fetched(made: ast.Call, way: Way) -> None:
    inputs = way.inputs or 0
    weights = way.arguments[inputs:]
    way.prelude += f"weights = {tuple_source(weights)}\n"
    way.arguments[inputs:] = ["lambda index, name: weights[index]"]
    way.inputs = inputs + 1


def _handed(made: ast.Call, way: Way) -> None:
    place = len(way.arguments) if way.inputs is None else way.inputs
    way.arguments.insert(place, "lambda index, value: handed.update({index: value.numpy()})")
    way.inputs = None if way.inputs is None else way.inputs + 1
    way.handed = True


def _bound(made: ast.Call, way: Way) -> None:
    function, values = option(made, 0, "func_name"), option(made, 1, "params")
    if not isinstance(function, ast.Constant) or function.value != way.function or not isinstance(values, ast.Dict):
        return
    if len(way.names) != len(way.arguments):
        return  # an earlier pass has changed the parameters
    bound = {key.value for key in values.keys if isinstance(key, ast.Constant)}
    kept = [index for index, name in enumerate(way.names) if name not in bound]
    way.arguments = [way.arguments[index] for index in kept]
    way.names = [way.names[index] for index in kept]


# --- the rows ---------------------------------------------------------------------------------------------------


CONVENTIONS: dict[str, Convention] = {
    row.name: row
    for row in (
        Convention(
            SAME_CALLING,
            "Every public function that was there takes and returns what it did. Private functions may change in any "
            "way, and public functions may be added.",
            "oracles.calls.after_pass:same",
        ),
        Convention(
            "lift_transform_params",
            "A function with `num_input` n keeps its first n parameters. The others become what "
            "`<name>_transform_params` returns when it is called with the tuple of the old ones. With "
            "shared_transform there is one `transform_params` for all functions.",
            "oracles.calls.weights:lifted",
            _lifted,
        ),
        Convention(
            "bundle_params",
            "The parameters after `num_input` become one tuple parameter.",
            "oracles.calls.weights:bundled",
            _bundled,
        ),
        Convention(
            "lazy_get_input",
            "The parameters after `num_input` become one callback (index, name) -> value, the last parameter.",
            "oracles.calls.lazy:fetched_by_callback",
            _fetched,
        ),
        Convention(
            "lazy_set_output",
            "A last parameter is added: a callback (index, value). The function hands every output to it once, and "
            "returns an empty tuple.",
            "oracles.calls.lazy:handed_to_callback",
            _handed,
        ),
        Convention(
            "lazy_transform_params",
            "Functions named `*transform_params` take no parameter after `num_input` but the shapes, call the packed "
            "functions get_item(index) and set_item(index, value), and return an empty tuple. These belong to the "
            "whole process, so a script does not define them.",
            "oracles.calls.lazy:fetched_by_name",
            by_name=True,
        ),
        Convention(
            "bind_params",
            "The parameters named in the dict of the pass's source are gone. Their values are those of the first "
            "entry call of the function that the source names. Only calls with the same values compare.",
            "oracles.calls.bound:values",
            _bound,
        ),
        Convention(
            "bind_symbolic_vars",
            "The parameters stay. Their symbolic dims that the dict of the pass's source names are now constants: "
            "those of the first entry call. Only calls with the same extents compare.",
            "oracles.calls.bound:symbols",
        ),
        Convention(
            "unknown",
            "Nothing is known. A function compares only where its signature stays, or where a transform function "
            "appears with it.",
            "oracles.calls.after_pass:unknown",
            known=False,
        ),
    )
}
