"""`tvm_ffi.structural_map` and `structural_walk` for releases without them, by reflection over fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import tvm_ffi

Change: TypeAlias = Callable[[Any], Any]
ClassChange: TypeAlias = tuple[Any, Change]
"""A class, or several, and what is done with their objects."""

_LEAVES = frozenset({"ir.Op", "ir.GlobalVar", "ir.Span", "ir.SourceName", "ir.PrimType", "ir.PointerType"})
_VARIABLES = frozenset(
    {"ir.Var", "relax.expr.DataflowVar", "relax.expr.Var", "tirx.Var", "tirx.SizeVar", "tirx.Buffer"}
)
_NO_NODES = ("int", "str", "bool", "float", "dtype", "Tensor", "Device", "ir.Span")
"""Types of fields in which no node of the IR can stand."""


def structural_map(root: Any, callbacks: ClassChange | Sequence[ClassChange], order: str = "post") -> Any:
    """Replaces nodes, as `tvm_ffi.structural_map` does: the first entry whose class fits is called at every occurrence,
    before (`order="pre"`) or after its fields are mapped. A variable whose type changes is replaced by one new variable
    wherever it occurs."""
    entries = [callbacks] if isinstance(callbacks, tuple) else list(callbacks)
    return _Mapping(entries, order == "pre").of(root)


def structural_walk(root: Any, callbacks: ClassChange | Sequence[ClassChange], order: str = "post") -> None:
    """Calls the first entry whose class fits at every occurrence, before or after what its fields hold."""
    entries = [callbacks] if isinstance(callbacks, tuple) else list(callbacks)
    _Mapping([(kinds, _unchanged(call)) for kinds, call in entries], order == "pre").of(root)


def _unchanged(call: Change) -> Change:
    """A change that changes nothing: the node, after the call."""
    return lambda node: (call(node), node)[1]


class _Mapping:
    """One walk. `variables` are those whose type was read, and what is in their place, by address; `kept` holds these
    addresses in use."""

    def __init__(self, entries: list[ClassChange], first: bool) -> None:
        self.entries, self.first = entries, first
        self.changes: dict[type, Change | None] = {}
        self.variables: dict[int, Any] = {}
        self.kept: list[Any] = []

    def of(self, value: Any) -> Any:
        """The mapped value."""
        if self.first:
            return self._inside(self._changed(value))
        return self._changed(self._inside(value))

    def _changed(self, value: Any) -> Any:
        kind = type(value)
        if kind not in self.changes:
            self.changes[kind] = next((change for kinds, change in self.entries if issubclass(kind, kinds)), None)
        change = self.changes[kind]
        return value if change is None else change(value)

    def _inside(self, value: Any) -> Any:
        if isinstance(value, (tvm_ffi.Array, list)):
            olds = value[:]
            news = [self.of(one) for one in olds]
            return value if all(map(_same, olds, news)) else news
        if isinstance(value, tvm_ffi.Map):
            pairs = [(one, self.of(one)) for one in value.values()]
            if all(_same(old, new) for old, new in pairs):
                return value
            return dict(zip(value.keys(), (new for _, new in pairs), strict=True))
        if not isinstance(value, tvm_ffi.Object) or not hasattr(type(value), "__tvm_ffi_type_info__"):
            return value
        return self._node(value)

    def _node(self, node: Any) -> Any:
        key, inner, _ = _shape_of(_kind(node))
        if not inner:
            return node
        address = node.__chandle__()
        if address in self.variables:
            return self.variables[address]
        fields = {}
        for name in inner:
            old = getattr(node, name)
            new = self.of(old)
            if not _same(old, new):
                fields[name] = new
        made = _remade(node, fields) if fields else node
        if key in _VARIABLES:
            self.variables[address] = made
            self.kept.append(node)
        return made


@cache
def _shape_of(kind: Any) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The type key of a class, its fields that can hold nodes, and all of its fields."""
    info = kind.__tvm_ffi_type_info__
    chain, key = [], str(info.type_key)
    while info is not None:
        chain.append(info.fields)
        info = info.parent_type_info
    every = [field for fields in reversed(chain) for field in fields]
    every.sort(key=lambda field: not str(field.c_structural_eq).startswith("def"))  # definitions before uses
    inner = [f.name for f in every if str(f.ty) not in _NO_NODES] if key not in _LEAVES else []
    return key, tuple(inner), tuple(field.name for field in every)


def _remade(node: Any, fields: dict[str, Any]) -> Any:
    """A node like this one with these fields. TypeError where a field cannot hold what it is given: reflection leaves
    it empty without a word, and TVM dies of that later."""
    from tvm.ir import make_node

    key, _, every = _shape_of(_kind(node))
    made = make_node(key, **{name: fields[name] if name in fields else getattr(node, name) for name in every})
    for name, given in fields.items():
        held = getattr(made, name)
        if given is not None and (held is None or (isinstance(given, list) and any(one is None for one in held))):
            raise TypeError(f"{key}.{name} cannot hold what replaces its {type(getattr(node, name)).__name__}")
    return made


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    if isinstance(old, tvm_ffi.Object) and isinstance(new, tvm_ffi.Object):
        return bool(old.__chandle__() == new.__chandle__())
    return type(old) is type(new) and not isinstance(old, (list, dict)) and bool(old == new)


def _kind(node: Any) -> Any:
    """The class of a node, for a cache (mypy does not take a class for hashable)."""
    return type(node)
