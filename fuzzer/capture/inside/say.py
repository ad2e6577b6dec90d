"""A line of Python for a value that a pass was made with: literals, arrays, objects of TVM, functions of the user's.

The names are those that expressions of passes may use (tvm, tvm_ffi, relax, tirx, s_tir, dpl, np). What is long, or the
user's own, goes into `Definitions`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import tvm
import tvm_ffi

from fuzzer.capture.inside import made
from fuzzer.capture.inside.definitions import Definable, Definitions, Unsayable, is_installed, path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Container: TypeAlias = "tuple[object, ...] | list[object] | set[object] | frozenset[object] | dict[object, object]"
_LONG = 2000
"""Characters from which on an expression is given a name of its own."""
_ELEMENTS = 64
"""Arrays of more elements are kept as base64."""


def said(value: object, definitions: Definitions) -> str:
    """The expression. Raises Unsayable."""
    text = _source_of(value, definitions)
    return definitions.value(text) if len(text) > _LONG else text


def _source_of(value: object, definitions: Definitions) -> str:
    match value:
        case None | bool() | int() | str() | bytes():
            return repr(_plain(value))
        case float():
            return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
        case np.ndarray() | np.generic():
            return _array(np.asarray(value))
        case np.dtype():
            return repr(str(value))
        case Enum():
            return f"{_class_path(type(value), definitions)}[{value.name!r}]"
        case tuple() | list() | set() | frozenset() | dict():
            return _container(value, definitions)
        case functools.partial():
            given = made.given_text(value.args, value.keywords, lambda one: said(one, definitions))
            call = f"{said(value.func, definitions)}{', ' if given else ''}{given}"
            return f"__import__('functools').partial({call})"
        case type() | FunctionType():
            return _class_path(value, definitions)
        case _:
            return _object(value, definitions)


def _plain(value: object) -> object:
    """Texts and numbers of TVM's classes as Python's own."""
    match value:
        case bool():
            return bool(value)
        case int():
            return int(value)
        case float():
            return float(value)
        case str():
            return str(value)
        case bytes():
            return bytes(value)
        case _:
            return value


def _container(value: Container, definitions: Definitions) -> str:
    if isinstance(value, dict):
        pairs = (f"{said(key, definitions)}: {said(one, definitions)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    parts = [said(one, definitions) for one in value]
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}([{', '.join(sorted(parts))}])"
    if isinstance(value, list):
        return f"[{', '.join(parts)}]"
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _array(array: NDArray[np.generic]) -> str:
    if array.dtype == object:
        raise Unsayable("an array of objects")
    if array.size <= _ELEMENTS and array.dtype.kind in "biuf" and np.isfinite(array).all():
        return f"np.array({array.tolist()!r}, {str(array.dtype)!r})"
    import base64

    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    name = str(array.dtype)
    dtype = f"np.dtype({name!r})" if array.dtype.kind in "biufc" else f"np.dtype(__import__('ml_dtypes').{name})"
    return f"np.frombuffer(__import__('base64').b64decode('{data}'), {dtype}).reshape({array.shape!r})"


def _class_path(value: Definable, definitions: Definitions) -> str:
    if not is_installed(value):
        return definitions.name_of(value)
    path = path_of(value)
    top = path.partition(".")[0]
    return (
        path
        if top in ("tvm", "tvm_ffi")
        else f"__import__('importlib').import_module({value.__module__!r})" + (f".{value.__qualname__}")
    )


def _object(value: object, definitions: Definitions) -> str:
    """An object of TVM, or an instance of any other class by its attributes."""
    if isinstance(value, tvm.ir.transform.Pass):
        known = made.made_by(value.info)
        if known is None:
            raise Unsayable(f"the pass {value.info.name}, of which no constructor is known")
        return known.said(lambda one: said(one, definitions))
    if isinstance(value, tvm_ffi.dtype):
        return repr(str(value))
    if isinstance(value, tvm.runtime.Tensor):
        return f"tvm.runtime.tensor({said(value.numpy(), definitions)})"
    if isinstance(value, tvm_ffi.Array):
        return _container(list(value), definitions)
    if isinstance(value, tvm_ffi.Map):
        return _container(dict(value.items()), definitions)
    if isinstance(value, tvm.target.Target):
        return f"tvm.target.Target({_target(value)!r})"
    if isinstance(value, tvm.runtime.Object) and not isinstance(value, tvm_ffi.Function):
        return _of_json(value)
    if isinstance(value, Mapping):
        return _container(dict(value), definitions)
    return _instance(value, definitions)


def _target(value: tvm.target.Target) -> object:
    """What constructs the target again; the text of it where this TVM has no better."""
    export = getattr(value, "export", None)
    try:
        return _literal(export()) if export is not None else str(value)
    except Exception:  # noqa: BLE001 - an older TVM's way
        return str(value)


def _literal(value: object) -> object:
    """Maps and arrays of TVM as Python's own."""
    if isinstance(value, (tvm_ffi.Map, Mapping)):
        return {str(key): _literal(one) for key, one in value.items()}
    if isinstance(value, (tvm_ffi.Array, list, tuple)):
        return [_literal(one) for one in value]
    return _plain(value)


def _of_json(value: object) -> str:
    try:
        return f"tvm.ir.load_json({tvm.ir.save_json(value)!r})"
    except Exception as error:
        raise Unsayable(f"a {type(value).__name__}, which TVM does not write") from error


def _instance(value: object, definitions: Definitions) -> str:
    attributes = getattr(value, "__dict__", None)
    if attributes is None or type(value).__module__.partition(".")[0] == "tvm_ffi":
        raise Unsayable(f"a {type(value).__name__}")
    path = _class_path(type(value), definitions)
    if not attributes:
        return f"{path}()"
    text = said(dict(attributes), definitions)
    return f"(lambda one: (one.__dict__.update({text}), one)[1])(object.__new__({path}))"
