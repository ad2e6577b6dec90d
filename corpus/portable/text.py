"""A repro script in the words of the TVM that is to run it: TVMScript that older versions write otherwise.

Pure text; no TVM here. What a TVM does not read, it says itself (`corpus.portable.shims`), by the names of `REWRITES`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from pathlib import Path

SHIMS = Path(__file__).with_name("shims.py")


class _Edit:
    """A script that is changed in places of its own text: comments and lines elsewhere stay."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.encode().splitlines(keepends=True)
        self._changes: list[tuple[int, int, bytes]] = []

    def replace(self, node: ast.expr, new: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start, end = self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)
        self._changes.append((start, end, new.encode()))

    def rename(self, given: ast.keyword, new: str) -> None:
        assert given.arg is not None
        start = self._at(given.lineno, given.col_offset)
        self._changes.append((start, start + len(given.arg.encode()), new.encode()))

    def insert_after(self, node: ast.stmt, text: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        at = self._at(node.end_lineno, node.end_col_offset)
        self._changes.append((at, at, text.encode()))

    def insert_above(self, node: ast.stmt, line: str) -> None:
        at = self._at(node.lineno, 0)
        self._changes.append((at, at, f"{' ' * node.col_offset}{line}\n".encode()))

    def _at(self, line: int, column: int) -> int:
        return sum(map(len, self._lines[: line - 1])) + column

    def result(self) -> str:
        data = b"".join(self._lines)
        for start, end, new in sorted(self._changes, reverse=True):
            data = data[:start] + new + data[end:]
        return data.decode()


def _relax_functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any("R.function" in ast.unparse(d) for d in node.decorator_list)
    ]


def _annotations(function: ast.FunctionDef) -> list[ast.expr]:
    given = [parameter.annotation for parameter in function.args.args]
    return [one for one in (*given, function.returns) if one is not None]


def _without_type_variables(text: str) -> str:
    """Symbolic extents as TVM before 0.27 writes them: strings in a signature, `n = T.int64()` in the body."""
    edit = _Edit(text)
    variables = {
        node.targets[0].id
        for node in ast.walk(edit.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "TypeVar"
    }
    for function in _relax_functions(edit.tree) if variables else ():
        for annotation in _annotations(function):
            for extent in _extents(annotation):
                if _names(extent) & variables:
                    edit.replace(extent, repr(ast.unparse(extent)))
        used = {one for one in variables if re.search(rf"\b{one}\b", ast.unparse(function))}
        for name in sorted(used):
            edit.insert_above(function.body[0], f"{name} = T.int64()")
    changed = edit.result()
    return _importing_tirx(changed) if variables else changed


def _extents(annotation: ast.expr) -> list[ast.expr]:
    """The extents of the tensors and shapes in an annotation."""
    shapes = [
        node.args[0]
        for node in ast.walk(annotation)
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in ("R.Tensor", "R.Shape")
    ]
    return [extent for shape in shapes if isinstance(shape, (ast.Tuple, ast.List)) for extent in shape.elts]


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _importing_tirx(text: str) -> str:
    """With the dialect T, which the written-out variables need."""
    edit = _Edit(text)
    dialects = [node for node in edit.tree.body if isinstance(node, ast.ImportFrom) and node.module == "tvm.script"]
    if dialects and all(alias.asname != "T" for node in dialects for alias in node.names):
        edit.insert_after(dialects[0], ", tirx as T")
    return edit.result()


def _out_sinfo(text: str) -> str:
    """Types that calls are given, `call_tir` and packed ones, under their names before 0.26."""
    edit = _Edit(text)
    for node in ast.walk(edit.tree):
        if isinstance(node, ast.keyword) and node.arg in _FORMER_NAMES:
            edit.rename(node, _FORMER_NAMES[node.arg])
    return edit.result()


_FORMER_NAMES = {"ty_args": "sinfo_args", "out_ty": "out_sinfo"}


def _prim_parameters(text: str) -> str:
    """Scalar parameters of Relax functions as TVM before 0.26 writes their type."""
    edit = _Edit(text)
    for function in _relax_functions(edit.tree):
        for annotation in _annotations(function):
            found = re.fullmatch(r"T\.(bool|u?int\d+|float\d+)", ast.unparse(annotation))
            if found:
                edit.replace(annotation, f'R.Prim("{found[1]}")')
    return edit.result()


REWRITES: dict[str, Callable[[str], str]] = {
    "type variables": _without_type_variables,
    "out_ty": _out_sinfo,
    "scalar parameters": _prim_parameters,
}
"""What is done for each probe of `corpus.portable.shims` that a TVM does not read."""


def adapted(text: str, not_read: Iterable[str]) -> str:
    """The script for a TVM that does not read these forms. A script that is no Python stays as it is."""
    refused = set(not_read)
    try:
        for name, rewrite in REWRITES.items():
            text = rewrite(text) if name in refused else text
        return text
    except (SyntaxError, ValueError, RecursionError):
        return text


def with_shims(text: str) -> str:
    """The script with a line that runs `shims` before TVM is used: for a process that starts anew."""
    first = re.search(r"^(?:import tvm|from tvm)\b.*$", text, re.MULTILINE)
    if first is None:
        return text
    return f"{text[: first.start()]}import runpy; runpy.run_path({str(SHIMS)!r})\n{text[first.start() :]}"
