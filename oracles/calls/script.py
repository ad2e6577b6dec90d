"""How a repro script calls a function after passes that change its calling convention: the data, and helpers for text.

A convention's text of the new arguments is in its row (`oracles.calls.table`). No TVM is imported here: a script is
written from the texts of the module and of the pass.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(slots=True)
class Way:
    """How to call a function: the sources of its arguments, and lines that come before the call.

    text: the function in the starting module, where that can be read. handed: its outputs go to a callback, which
    stores them in the dict `handed`. names, inputs: the parameters and the attribute `num_input`, read from the text.
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


def _num_input(function: ast.FunctionDef) -> int | None:
    """The function's attribute `num_input`."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "num_input" and isinstance(value, ast.Constant):
                return int(str(value.value))
    return None


def option(made: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument that a pass is constructed with, by position or by name."""
    named = [keyword.value for keyword in made.keywords if keyword.arg == name]
    return named[0] if named else made.args[position] if len(made.args) > position else None


def tuple_source(entries: list[str]) -> str:
    """The source of a tuple of these entries."""
    return f"({', '.join(entries)}{',' if len(entries) == 1 else ''})"
