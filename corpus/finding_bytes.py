"""A Finding as bytes, for other processes and for `resume.json`, and back. Nothing runs, whatever the bytes say.

A worker that judges another user's cases is behind walls, and what it answers is read by a process that is not; so it
is MessagePack of known fields, and no pickle. Arrays are as in `corpus.encoding`, the large ones as raw elements.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import msgspec
import numpy as np

from corpus.encoding import UnreadableArgument, decode, encode
from corpus.finding import Expectation, Finding
from corpus.scripts.poison_fill import MEANINGS
from generators.case import Argument, Case, EntryCall
from generators.dtypes import Array


class UnreadableFinding(ValueError):
    """No finding that `to_bytes` wrote; the message says why."""


class _Call(msgspec.Struct):
    function: str
    arguments: list[object]


class _Expected(msgspec.Struct):
    call: int
    outputs: list[object]
    tolerances: list[object]


class _Elements(msgspec.Struct):
    """An array in C order. dtype: NumPy's name of it, a plain number."""

    dtype: str
    extents: tuple[int, ...]
    content: bytes


def _travelling(record: type, name: str, **otherwise: object) -> Any:
    """A Struct of the fields of a dataclass, with their defaults, but for those that travel in another form."""
    types = {**get_type_hints(record), **otherwise}
    defaults = {field.name: field.default for field in fields(record) if field.default is not MISSING}
    wanted = [(key, kind) for key, kind in types.items() if key not in defaults]
    return msgspec.defstruct(name, [*wanted, *((key, types[key], value) for key, value in defaults.items())])


_CaseFields = _travelling(Case, "_CaseFields", calls=list[_Call])
_FindingFields = _travelling(
    Finding,
    "_FindingFields",
    case=_CaseFields,
    expectations=list[_Expected],
    unreduced=bytes | None,
    arrays=dict[str, _Elements],
)
"""`Finding` in the form in which it travels, and the arrays that it names."""
_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda value: _plain(value))
_DECODER = msgspec.msgpack.Decoder(_FindingFields)
_KINDS = "biuf"


def to_bytes(finding: Finding) -> bytes:
    """The finding, whole."""
    arrays: dict[str, Array] = {}
    case = finding.case
    calls = [_Call(call.function, _encoded(call.arguments, arrays)) for call in case.calls]
    expectations = [
        _Expected(one.call, _encoded(one.outputs, arrays), _encoded(one.tolerances, arrays))
        for one in finding.expectations
    ]
    travelling = _FindingFields(
        **{
            **_fields_of(finding),
            "case": _CaseFields(**{**_fields_of(case), "calls": calls}),
            "expectations": expectations,
            "unreduced": None if finding.unreduced is None else to_bytes(finding.unreduced),
            "arrays": {name: _elements(array) for name, array in arrays.items()},
        }
    )
    return _ENCODER.encode(travelling)


def from_bytes(data: bytes) -> Finding:
    """The finding that `to_bytes` wrote. Raises UnreadableFinding for anything else."""
    try:
        read = _DECODER.decode(data)
        arrays = {name: _array(elements) for name, elements in read.arrays.items()}
        calls = tuple(EntryCall(call.function, _arguments(call.arguments, arrays)) for call in read.case.calls)
        if read.setting.fill.byte not in MEANINGS:
            raise UnreadableFinding(f"no fill of {read.setting.fill.byte}")
        return Finding(
            **{
                **{field.name: getattr(read, field.name) for field in fields(Finding)},
                "case": Case(**{**{one.name: getattr(read.case, one.name) for one in fields(Case)}, "calls": calls}),
                "expectations": tuple(_expectation(one, arrays) for one in read.expectations),
                "unreduced": None if read.unreduced is None else from_bytes(read.unreduced),
            }
        )
    except UnreadableFinding:
        raise
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError, RecursionError, MemoryError) as error:
        raise UnreadableFinding(f"{type(error).__name__}: {error}") from error


def is_readable(data: bytes | None) -> bool:
    """Whether there is a finding in the bytes, where there are any."""
    try:
        return data is None or bool(from_bytes(data))
    except UnreadableFinding:
        return False


def _fields_of(record: Finding | Case) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _plain(value: object) -> object:
    """A number of NumPy's as Python's, and a string of TVM's, which is a subclass, as a string."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    raise NotImplementedError(f"a {type(value).__name__} in a finding")


def _encoded(arguments: tuple[Argument, ...], arrays: dict[str, Array]) -> list[object]:
    return [encode(argument, arrays) for argument in arguments]


def _arguments(values: list[object], arrays: dict[str, Array]) -> tuple[Argument, ...]:
    return tuple(decode(value, arrays) for value in values)


def _elements(array: Array) -> _Elements:
    return _Elements(array.dtype.name, array.shape, array.tobytes())


def _array(elements: _Elements) -> Array:
    dtype = np.dtype(elements.dtype)
    if dtype.kind not in _KINDS:
        raise UnreadableFinding(f"elements of type {dtype}")
    return np.frombuffer(bytearray(elements.content), dtype).reshape(elements.extents)


def _expectation(read: _Expected, arrays: dict[str, Array]) -> Expectation:
    outputs, tolerances = _arguments(read.outputs, arrays), _arguments(read.tolerances, arrays)
    if not all(isinstance(one, np.ndarray) for one in outputs):
        raise UnreadableArgument("an expected output is not an array")
    if not all(isinstance(one, (np.ndarray, int, float)) for one in tolerances):
        raise UnreadableArgument("a tolerance is neither a number nor an array")
    return Expectation(read.call, outputs, tolerances)  # type: ignore[arg-type]
