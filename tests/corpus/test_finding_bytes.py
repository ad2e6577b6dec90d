"""A finding travels whole as bytes, and bytes of another user run nothing and raise nothing but our error."""

from __future__ import annotations

import os
import pickle
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.finding import Aftermath, Expectation, Finding, ReductionStats
from corpus.finding_bytes import UnreadableFinding, from_bytes, is_readable, to_bytes
from corpus.rate import ReproRate
from corpus.scripts.poison_fill import Fill
from corpus.scripts.setting import ScriptSetting
from generators.case import Case, EntryCall, ModuleText, Origin, PassCall, Shape
from generators.dtypes import FLOAT8, FLOATS, INTEGERS, numpy_dtype
from oracles.evidence import InKernel
from oracles.verdict import Failed
from tests.reports.reports_data import finding as plain_finding

DTYPES = ("bool", *INTEGERS, *FLOATS, *FLOAT8)


def same(one: Any, other: Any) -> bool:
    """Equal down to the dtypes and bits of arrays and the types of numbers."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and (one.dtype, one.shape) == (other.dtype, other.shape)
            and one.tobytes() == other.tobytes()
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return bool(one == other)


def array_of(dtype: str, *extents: int) -> Any:
    count = int(np.prod(extents))
    return (
        (np.arange(count) % 2 if dtype == "bool" else np.arange(count) % 7).astype(numpy_dtype(dtype)).reshape(extents)
    )


def whole_finding() -> Finding:
    """A finding none of whose fields is its default."""
    large = tuple(array_of(dtype, 5, 40) for dtype in DTYPES)
    small = tuple(array_of(dtype, 2, 3) for dtype in DTYPES)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], dtype="float32")
    strided = np.asfortranarray(np.arange(200, dtype="int64").reshape(20, 10))
    arguments = (
        Shape((2, -1)),
        (large, (small, Shape(())), 3),
        2.5,
        float("-inf"),
        special,
        strided,
        array_of("int8", 0),
    )
    case = Case(
        ModuleText("class Module:\n    pass\n", "{}"),
        (PassCall("FuseOps", "relax.transform.FuseOps()", "{'a': 1}"),),
        (EntryCall("main", arguments),),
        "cuda",
        (PassCall("LegalizeOps", "relax.transform.LegalizeOps()"),),
        Origin(1, 2, "file", True),
        "mine.py",
    )
    return replace(
        plain_finding(),
        case=case,
        verdict=Failed("wrong result", "m", "d", "c", InKernel("out of bounds", "k", "what"), "- a\n+ b"),
        count=3,
        reduced=ReductionStats(9, 2, 4, 1, 5, 1, 41, 0.25, True, True, 2),
        expectations=(Expectation(0, (special, large[3]), (0.5, np.full((5, 40), 1e-3))),),
        fault=("whose", "fault"),
        setting=ScriptSetting(Fill(0xCE, scratch=True), unoptimised=True, goes_on=True, by_reference=True),
        promise="promise",
        blames="FuseTIR",
        cause="cause",
        aftermath=Aftermath("call", "complaint", "change", ("o",)),
        environment=(("os", "x"),),
        official="tvm.compile(Module)",
        own_fault="raised",
        rate=ReproRate(2, 3),
        said="killed by signal 6",
        unreduced=replace(plain_finding(), case=case),
        space="tirx",
    )


def test_every_field_of_a_finding_travels() -> None:
    whole, least = whole_finding(), plain_finding()
    for one, other in ((whole, least), (whole.case, least.case)):
        assert is_dataclass(one)
        kept = {"oracle", "signature", "tier", "at_s", "tvm"}
        assert [
            f.name for f in fields(one) if f.name not in kept and same(getattr(one, f.name), getattr(other, f.name))
        ] == []
    assert same(from_bytes(to_bytes(whole)), replace(whole, case=from_bytes(to_bytes(whole)).case))
    for one in (whole, least):
        assert same(from_bytes(to_bytes(one)), one)


def test_numbers_of_numpy_travel_as_numbers() -> None:
    one = replace(whole_finding(), expectations=(Expectation(0, (np.zeros(1),), (np.float64(0.25),)),))
    assert from_bytes(to_bytes(one)).expectations[0].tolerances == (0.25,)


class Word(str):
    """As TVM's strings are, of which names come."""

    def __str__(self) -> str:
        return self


class Whole(int):
    """An integer of a subclass."""


class Real(float):
    """A float of a subclass."""


def test_subclasses_of_strings_and_numbers_travel_as_these() -> None:
    called = EntryCall(Word("main"), (Whole(3), Real(0.5)))
    one = replace(plain_finding(), oracle=Word("survives"), fault=(Word("x"),), at_s=Real(1.5), count=Whole(2))
    read = from_bytes(to_bytes(replace(one, case=replace(one.case, calls=(called,)))))
    plain = replace(plain_finding(), oracle="survives", fault=("x",), at_s=1.5, count=2)
    assert same(read, replace(plain, case=replace(plain.case, calls=(EntryCall("main", (3, 0.5)),))))


class Runs:
    """Makes a folder where it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


def test_a_pickle_is_no_finding_and_is_not_run(tmp_path: Path) -> None:
    data = pickle.dumps(Runs(tmp_path / "ran"))
    assert not is_readable(data)
    assert not (tmp_path / "ran").exists()
    pickle.loads(data)
    assert (tmp_path / "ran").exists()  # It would have.


@given(st.data())
def test_other_bytes_raise_our_error_alone(data: st.DataObject) -> None:
    good = to_bytes(plain_finding() if data.draw(st.booleans()) else SMALL)
    at = data.draw(st.integers(0, len(good) - 1))
    changed = good[:at] + data.draw(st.binary(max_size=3)) + good[at + data.draw(st.integers(0, 3)) :]
    try:
        read = from_bytes(changed)
    except UnreadableFinding:
        return
    assert isinstance(read, Finding)
    assert to_bytes(read)


SMALL = replace(
    plain_finding(),
    case=replace(plain_finding().case, calls=(EntryCall("main", (array_of("bfloat16", 70), Shape((3,)), 1)),)),
    expectations=(Expectation(0, (array_of("float32", 80),), (0.5,)),),
)


@pytest.mark.parametrize(
    "elements",
    [
        {"dtype": "object", "extents": [1], "content": b"12345678"},
        {"dtype": "float32", "extents": [2**40], "content": b"1234"},
        {"dtype": "float32", "extents": [-1, 0], "content": b""},
        {"dtype": "V8", "extents": [1], "content": b"12345678"},
        {"dtype": "no such", "extents": [1], "content": b"1"},
    ],
)
def test_arrays_that_are_no_numbers_are_refused(elements: dict[str, Any]) -> None:
    read = msgspec.msgpack.decode(to_bytes(SMALL))
    read["arrays"] = {name: elements for name in read["arrays"]}
    with pytest.raises(UnreadableFinding):
        from_bytes(msgspec.msgpack.encode(read))
