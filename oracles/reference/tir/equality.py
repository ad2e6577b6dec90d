"""When two decoded functions are one program: passes change much of TVM's IR that means nothing to the interpreter.

Not compared: which object a variable is, how statements are grouped, blocks that have only a name, and the width of a
literal index. Names of buffers are compared, since messages hold them; those of parameters not: packed functions
have none.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from oracles.reference.tir import nodes
from oracles.reference.tir.nodes import (
    Alloc,
    Bin,
    Block,
    Buffer,
    Cmp,
    Const,
    DType,
    Expr,
    Function,
    Load,
    Seq,
    Store,
    Var,
)

ProgramKey: TypeAlias = tuple[Hashable, ...]
_FIELDS = {
    kind: tuple(field.name for field in fields(kind))
    for kind in vars(nodes).values()
    if isinstance(kind, type) and is_dataclass(kind)
}


class _Reader:
    """Reads one function; variables are numbered as they are met."""

    def __init__(self, parameters: frozenset[int]) -> None:
        self._parameters = parameters
        self._variables: dict[int, int] = {}
        self._buffers: dict[int, ProgramKey] = {}

    def key(self, node: Any) -> Hashable:
        """A hashable value, equal for equal nodes."""
        kind = type(node)
        if kind is Bin or kind is Cmp:
            return node.op, self.key(node.a), self.key(node.b), node.dtype.name
        if kind is Var:
            return "var", self._variables.setdefault(node.key, len(self._variables)), node.dtype.name
        if kind is Const:
            return repr(node.value), node.dtype.name
        if kind is Buffer:
            return self._buffer(node)
        if kind is DType:
            return str(node.name)
        if kind is tuple:
            return tuple([self.key(part) for part in node])
        if kind is Load:
            return "load", self._buffer(node.buffer), self._indices(node.indices), node.dtype.name
        if kind is Store:
            return "store", self._buffer(node.buffer), self._indices(node.indices), self.key(node.value)
        if kind is Seq or kind is Block:
            parts: list[Hashable] = []
            self._flatten(node, parts)
            return parts[0] if len(parts) == 1 else ("seq", *parts)
        names = _FIELDS.get(kind)
        return node if names is None else (kind.__name__, *[self.key(getattr(node, name)) for name in names])

    def _buffer(self, buffer: Buffer) -> ProgramKey:
        found = self._buffers.get(id(buffer))
        if found is None:
            source = None if buffer.source is None else self._buffer(buffer.source)
            shape, dtype = buffer.shape, buffer.dtype.name
            name = "" if id(buffer) in self._parameters else buffer.name
            found = buffer.slot, name, dtype, shape, source, buffer.offset, buffer.scope
            self._buffers[id(buffer)] = found
        return found

    def _indices(self, indices: tuple[Expr, ...]) -> ProgramKey:
        return tuple([index.value if type(index) is Const else self.key(index) for index in indices])

    def _flatten(self, node: Any, parts: list[Hashable]) -> None:
        """Adds the statements of a sequence, those of sequences in it among them."""
        kind = type(node)
        if kind is Seq and not node.single:
            for child in node.body:
                self._flatten(child, parts)
        elif kind is Block and node.predicate is None and node.init is None:
            parts += [self.key(Alloc(buffer)) for buffer in node.allocs]
            self._flatten(node.body, parts)
        elif kind is Seq:
            parts.append(("single", *[self.key(child) for child in node.body]))
        elif kind is Block:
            parts.append(("block", *[self.key(getattr(node, name)) for name in _FIELDS[Block]]))
        else:
            parts.append(self.key(node))


def program_key(function: Function) -> ProgramKey:
    """A hashable value that is the same for functions which do the same by the same steps."""
    reader = _Reader(frozenset(id(param) for param in function.params))
    rest = [reader.key(getattr(function, name)) for name in _FIELDS[Function] if name != "units"]
    return *rest, tuple(sorted(function.units.items()))
