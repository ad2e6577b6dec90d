"""`tvm_ffi.structural_map` for releases without it (before apache-tvm-ffi 0.1.14), by reflection over fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import tvm_ffi

Change: TypeAlias = Callable[[Any], Any]
Entry: TypeAlias = tuple[type | tuple[type, ...], Change]


def structural_map(root: Any, callbacks: Entry | Sequence[Entry], order: str = "post") -> Any:
    """Replaces nodes, as `tvm_ffi.structural_map` does: the first entry whose class fits is called at every occurrence,
    before (`order="pre"`) or after its fields are mapped. A variable whose type changes is replaced by one new variable
    wherever it occurs."""
    entries = [callbacks] if isinstance(callbacks, tuple) else list(callbacks)
    return _Mapping(entries, order == "pre").of(root)


class _Mapping:
    """One walk; `variables` are those that have been replaced, by address."""

    def __init__(self, entries: list[Entry], first: bool) -> None:
        self.entries, self.first = entries, first
        self.variables: dict[int, Any] = {}
        self.kept: list[Any] = []

    def of(self, value: Any) -> Any:
        """The mapped value."""
        if self.first:
            return self._inside(self._changed(value))
        return self._changed(self._inside(value))

    def _changed(self, value: Any) -> Any:
        for kinds, change in self.entries:
            if isinstance(value, kinds):
                return change(value)
        return value

    def _inside(self, value: Any) -> Any:
        if isinstance(value, (tvm_ffi.Array, list)):
            new = [self.of(one) for one in value]
            return value if all(a is b or _same(a, b) for a, b in zip(value, new, strict=True)) else new
        if isinstance(value, tvm_ffi.Map):
            pairs = [(key, self.of(key), one, self.of(one)) for key, one in value.items()]
            if all(_same(a, b) and _same(c, d) for a, b, c, d in pairs):
                return value
            return {new_key: new for _, new_key, _, new in pairs}
        if not isinstance(value, tvm_ffi.Object) or not hasattr(type(value), "__tvm_ffi_type_info__"):
            return value
        return self._node(value)

    def _node(self, node: Any) -> Any:
        info = type(node).__tvm_ffi_type_info__
        if info.type_key in _LEAVES:
            return node
        address = node.__chandle__()
        if address in self.variables:
            return self.variables[address]
        fields, changed = {}, False
        for field in _fields(info):
            old = getattr(node, field.name)
            new = old if field.c_structural_eq == "ignore" and field.name != "ty" else self.of(old)
            fields[field.name] = new
            changed = changed or not _same(old, new)
        if not changed:
            return node
        made = _made(info.type_key, fields)
        if info.type_key in _VARIABLES:
            self.variables[address] = made
            self.kept.append(node)
        return made


_LEAVES = frozenset({"ir.Op", "ir.GlobalVar", "ir.Span", "ir.SourceName", "ir.IntImm", "relax.expr.Constant"})
_VARIABLES = frozenset({"ir.Var", "relax.expr.DataflowVar", "tirx.Var", "tirx.SizeVar", "tirx.Buffer"})


def _fields(info: Any) -> list[Any]:
    """The fields of a class, those of its parents first."""
    chain = []
    while info is not None:
        chain.append(info.fields)
        info = info.parent_type_info
    return [field for fields in reversed(chain) for field in fields]


def _made(key: str, fields: dict[str, Any]) -> Any:
    from tvm.ir import make_node

    return make_node(key, **fields)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tvm_ffi.Object) and isinstance(b, tvm_ffi.Object):
        return bool(a.__chandle__() == b.__chandle__())
    return a is b or (type(a) is type(b) and a == b)
