"""Case folders: what is written comes back, and what is broken says so by name."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from corpus import store
from corpus.encoding import INLINE_ELEMENTS, UnreadableArgument, decode, encode
from corpus.escapes import one_line
from corpus.finding import Expectation
from corpus.own import MARK
from corpus.rate import ReproRate
from corpus.scripts.poison_fill import Fill
from corpus.scripts.setting import ScriptSetting
from corpus.store import LONGEST_REASON, CorruptCase, StoredCase, read_case, write_atomically, write_case
from generators.case import Argument, Case, EntryCall, ModuleText, Origin, PassCall, Shape
from oracles.evidence import (
    DeadBinding,
)
from tests.corruption import SPECIAL, put

SCRIPT = "@I.ir_module\nclass Module:\n    x = 1\n"

ARGUMENTS: list[Argument] = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], dtype=np.float32),
    np.array([2**63 - 1, -(2**63)], dtype=np.int64),
    np.array([2**64 - 1], dtype=np.uint64),
    np.array([[True, False]]),
    np.array(1.5, dtype=np.float16),
    np.array([1.5, -3.0], dtype=ml_dtypes.bfloat16),
    np.zeros((0, 4), dtype=np.int8),
    np.linspace(0, 1, INLINE_ELEMENTS + 1),
    np.linspace(0, 1, INLINE_ELEMENTS + 1).astype(ml_dtypes.bfloat16),
    Shape((1, 0, 7)),
    3,
    -2.5,
    float("inf"),
    (np.ones(2, np.float32), (Shape(()), 4), ()),
]


def same(left: Argument, right: Argument) -> bool:
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, tuple):
        return isinstance(right, tuple) and len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@pytest.mark.parametrize("argument", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments_come_back_bit_for_bit(argument: Argument) -> None:
    arrays: dict[str, Any] = {}
    text = json.dumps(encode(argument, arrays), allow_nan=False)
    assert same(decode(json.loads(text), arrays), argument)


def test_small_arrays_stand_inline_and_large_ones_do_not() -> None:
    arrays: dict[str, Any] = {}
    encode(np.zeros(INLINE_ELEMENTS), arrays)
    assert arrays == {}
    encode(np.zeros(INLINE_ELEMENTS + 1), arrays)
    assert list(arrays) == ["a0"]


@pytest.mark.parametrize(
    "value", [3, {}, {"dtype": "float32", "extents": [2], "values": [1]}, {"dtype": "float99"}, {"scalar": []}]
)
def test_unreadable_arguments_are_named(value: Any) -> None:
    with pytest.raises(UnreadableArgument):
        decode(value, {})


def stored_case(json_text: str | None = None) -> StoredCase:
    case = Case(
        module=ModuleText(SCRIPT, json_text),
        passes=(
            PassCall("FoldConstant", "relax.transform.FoldConstant()"),
            PassCall("FuseOps", "relax.transform.FuseOps()", "{'relax.FuseOps.max_depth': 2}"),
        ),
        calls=(EntryCall("main", tuple(ARGUMENTS)),),
        target="cuda",
        setup=(PassCall("LegalizeOps", "relax.transform.LegalizeOps()"),),
        origin=Origin(seed=3, index=14),
        load="mine.py",
    )
    expectation = Expectation(0, (np.ones((2, 2), np.float32), np.zeros(100)), (1e-6, np.full(100, 0.5)))
    return StoredCase(
        case, "a title", "numeric", "wrong result", "FoldConstant", "off by one", "apache/tvm#1",
        (("0.26", "fails"), ("0.27", "passes")), "numeric-FoldConstant-00000000", (expectation,),
        ScriptSetting(Fill(0xCE, scratch=True), unoptimised=True, goes_on=True, by_reference=True),
        DeadBinding("relax.add"), rate=ReproRate(2, 3), said="killed by signal 6",
    )  # fmt: skip


@pytest.mark.parametrize("json_text", [None, '{"root": 0}'])
def test_a_folder_comes_back(tmp_path: Path, json_text: str | None) -> None:
    stored = stored_case(json_text)
    write_case(tmp_path / "slug", stored, "repro", "readme")
    again = read_case(tmp_path / "slug")
    assert replace(again, case=replace(again.case, calls=()), expectations=()) == replace(
        stored, case=replace(stored.case, calls=()), expectations=()
    )
    assert same(again.case.calls[0].arguments, stored.case.calls[0].arguments)
    assert same(again.expectations[0].outputs, stored.expectations[0].outputs)
    assert again.expectations[0].tolerances[0] == 1e-6
    assert (tmp_path / "slug" / "repro.py").read_text() == "repro"
    assert [path.name for path in tmp_path.iterdir()] == ["slug"]


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    write_case(tmp_path / "slug", stored_case('{"root": 0}'), "old", "old")
    small = replace(stored_case(), expectations=(), case=replace(stored_case().case, calls=()))
    write_case(tmp_path / "slug", small, "new", "new", made_here=True)
    assert sorted(path.name for path in (tmp_path / "slug").iterdir()) == [
        MARK,
        "README.md",
        "case.json",
        "module.py",
        "repro.py",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["slug"]


def test_nothing_is_left_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        write_case(tmp_path / "slug", stored_case(), "repro", "readme")
    assert list(tmp_path.iterdir()) == []


def test_atomic_write_keeps_the_old_file_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_atomically(path, b"old")

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(store.os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["summary.json"]


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def _edit(path: Path, **changes: Any) -> None:
    data = json.loads(path.read_text())
    data.update(changes)
    path.write_text(json.dumps({key: value for key, value in data.items() if value != "absent"}))


CORRUPTIONS = [
    ("absent folder", lambda folder: folder.rename(folder.with_name("elsewhere")), "no case.json"),
    ("truncated json", lambda folder: _truncate(folder / "case.json"), "truncated"),
    ("binary json", lambda folder: (folder / "case.json").write_bytes(b"\xff\xfe\x00"), "malformed"),
    ("a list", lambda folder: (folder / "case.json").write_text("[]"), "Expected `object`, got `array`"),
    ("later schema", lambda folder: _edit(folder / "case.json", schema=99), "unknown schema 99"),
    ("no schema", lambda folder: _edit(folder / "case.json", schema="absent"), "unknown schema None"),
    ("no passes", lambda folder: _edit(folder / "case.json", passes="absent"), "required field `passes`"),
    ("passes of another form", lambda folder: _edit(folder / "case.json", passes=[1]), "at `$.passes[0]`"),
    ("odd outcome", lambda folder: _edit(folder / "case.json", expected={"0.27": "maybe"}), "maybe"),
    ("no module", lambda folder: (folder / "module.py").unlink(), "no module.py"),
    ("truncated module", lambda folder: _truncate(folder / "module.py"), "line"),
    ("empty module", lambda folder: (folder / "module.py").write_text("import tvm\n"), "no module"),
    ("module with imports", lambda folder: (folder / "module.py").write_text("import os\n"), "not os"),
    ("truncated arrays", lambda folder: _truncate(folder / "inputs.npz"), ""),
    ("no arrays", lambda folder: (folder / "inputs.npz").unlink(), "a0"),
]


def _archive(folder: Path, content: bytes, name: str = "a0.npy", method: int = zipfile.ZIP_STORED) -> Path:
    path = folder / "inputs.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, content)
    return path


def _npy(header: str, content: bytes = b"") -> bytes:
    text = f"{header}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def _header(shape: str, dtype: str = "'<f8'") -> bytes:
    return _npy(f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}")


def _flipped(folder: Path, offset: int, bits: int, at: bytes = b"PK\x01\x02") -> None:
    """An archive whose central directory says something else."""
    path = _archive(folder, _header("()"))
    data = bytearray(path.read_bytes())
    data[data.index(at) + offset] ^= bits
    path.write_bytes(bytes(data))


def _broken_stream(folder: Path) -> None:
    path = _archive(folder, bytes(1000), method=zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    data[40:44] = b"\xff\xff\xff\xff"
    path.write_bytes(bytes(data))


def _bomb(folder: Path) -> None:
    """A megabyte that is said to be 100 bytes."""
    path = _archive(folder, bytes(1 << 20), method=zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (100).to_bytes(4, "little")
    path.write_bytes(bytes(data))


def _raw(folder: Path, key: str, value: str) -> None:
    """A value that Python does not write."""
    text = (folder / "case.json").read_text()
    data = {**json.loads(text), key: "HERE"}
    (folder / "case.json").write_text(json.dumps(data).replace('"HERE"', value))


def _arguments(folder: Path, *arguments: Any) -> None:
    _edit(folder / "case.json", calls=[{"function": "main", "arguments": list(arguments)}], expectations=[])


_LOADED = {"name": "Any", "source": "PASSES['Any']()"}
_ONES = {"dtype": "float32", "extents": [2], "values": [1.0, 1.0]}


def _expectation(folder: Path, outputs: list[Any], tolerances: list[Any]) -> None:
    _edit(folder / "case.json", expectations=[{"call": 0, "outputs": outputs, "tolerances": tolerances}])


ESCAPED = [
    ("deep json", lambda f: _raw(f, "title", "[" * 100_000), "recursion"),
    ("deep json in what is ignored", lambda f: _raw(f, "more", "[" * 100_000 + "]" * 100_000), "recursion"),
    (
        "deep tuple",
        lambda f: _raw(f, "calls", f'[{{"function": "main", "arguments": [{_deep_tuple(900)}]}}]'),
        "cursion",
    ),
    ("deep module", lambda f: (f / "module.py").write_text("class A:\n x = " + "-" * 50_000 + "1"), "Error"),
    ("long sum", lambda f: (f / "module.py").write_text("class A:\n x = 1" + "+1" * 50_000), "RecursionError"),
    (
        "integer too large",
        lambda f: _arguments(f, {"dtype": "int8", "extents": [1], "values": [10**9]}),
        "OverflowError",
    ),
    ("a huge integer", lambda f: _arguments(f, {"dtype": "float32", "extents": [1], "values": [10**400]}), "64 bits"),
    ("an endless integer", lambda f: _raw(f, "origin", f'{{"seed": {"1" * 5000}}}'), "out of range"),
    ("number too large", lambda f: _raw(f, "origin", "1e400"), "out of range"),
    ("shape inf", lambda f: _arguments(f, {"shape": [1e308]}), "no extent"),
    ("a huge shape", lambda f: _arguments(f, {"dtype": "int8", "extents": [2**62, 2**62], "values": [1]}), "Error"),
    ("many axes", lambda f: _arguments(f, {"dtype": "int8", "extents": [1] * 10_000, "values": [1]}), "axes"),
    ("objects inline", lambda f: _arguments(f, {"dtype": "O", "extents": [1], "values": [1]}), "no dtype 'O'"),
    ("dtype of another type", lambda f: _arguments(f, {"dtype": ["f"], "extents": [1], "values": [1]}), "no dtype"),
    ("empty npz", lambda f: (f / "inputs.npz").write_bytes(b""), "BadZipFile"),
    ("empty array", lambda f: _archive(f, b""), "reading magic"),
    ("broken zlib", _broken_stream, "inputs.npz"),
    ("unknown method", lambda f: _flipped(f, 10, 0x5D), "unknown way"),
    ("bzip2", lambda f: _archive(f, _header("()"), method=zipfile.ZIP_BZIP2), "unknown way"),
    ("encrypted", lambda f: _flipped(f, 8, 1), "unknown way"),
    ("declared size", lambda f: _flipped(f, 27, 0x7F), "more than"),
    ("a bomb", _bomb, "inputs.npz"),
    ("huge header", lambda f: _archive(f, _npy(" " * 60_000)), "ValueError"),
    ("header that is no dict", lambda f: _archive(f, _npy("(" * 200)), "inputs.npz"),
    ("header that ends early", lambda f: _archive(f, _npy('{"a": """')), "inputs.npz"),
    ("huge array", lambda f: _archive(f, _header(f"({1 << 50},)")), "0 bytes for shape"),
    ("negative array", lambda f: _archive(f, _header("(-1, -8)")), "for shape"),
    ("objects", lambda f: _archive(f, _header("()", "'|O'")), "elements of type object"),
    ("target of another type", lambda f: _edit(f / "case.json", target=5), "at `$.target`"),
    ("unknown target", lambda f: _edit(f / "case.json", target="toaster"), "unknown target 'toaster'"),
    (
        "no load for its pass",
        lambda f: _edit(f / "case.json", load=None, setup=[_LOADED]),
        "pass Any is of a loaded file",
    ),
    ("load of another type", lambda f: _edit(f / "case.json", load=3), "at `$.load`"),
    ("another fill", lambda f: _edit(f / "case.json", fill={"byte": 7}), "no byte 7"),
    ("fill of another type", lambda f: _edit(f / "case.json", fill={"byte": "7"}), "at `$.fill.byte`"),
    ("rate above one", lambda f: _edit(f / "case.json", rate={"times": 4, "runs": 3}), "4 of 3: more than each"),
    ("rate of no runs", lambda f: _edit(f / "case.json", rate={"times": 0, "runs": 0}), "at `$.rate.runs`"),
    ("signature of another type", lambda f: _edit(f / "case.json", signature=5), "at `$.signature`"),
    (
        "signature that is a path",
        lambda f: _edit(f / "case.json", signature="../../x"),
        "no name of a folder: '../../x'",
    ),
    ("module elsewhere", lambda f: _edit(f / "case.json", module="../../etc/passwd"), "at `$.module`"),
    ("schema of another type", lambda f: _edit(f / "case.json", schema=[1]), "unknown schema [1]"),
    ("evidence of no kind", lambda f: _edit(f / "case.json", evidence={"type": "x"}), "at `$.evidence"),
    ("a version of many digits", lambda f: _edit(f / "case.json", expected={"1" * 5000: "fails"}), "no version"),
    (
        "tolerances of another shape",
        lambda f: _expectation(f, [_ONES], [{**_ONES, "extents": [1, 2]}]),
        "of shape (1, 2)",
    ),
    ("a tolerance that is a shape", lambda f: _expectation(f, [_ONES], [{"shape": [2]}]), "neither a number"),
    ("an output that is a number", lambda f: _expectation(f, [{"scalar": 1}], [{"scalar": 1}]), "not an array"),
    ("fewer tolerances", lambda f: _expectation(f, [_ONES], []), "1 outputs but 0 tolerances"),
    ("expectation of no call", lambda f: _edit(f / "case.json", calls=[]), "expectation of call 0 of 0"),
    *((f"case.json is {what}", partial(lambda what, f: put(f / "case.json", what), what), "") for what in SPECIAL),
    *((f"module.py is {what}", partial(lambda what, f: put(f / "module.py", what), what), "") for what in SPECIAL),
    *((f"inputs.npz is {what}", partial(lambda what, f: put(f / "inputs.npz", what), what), "") for what in SPECIAL),
]
"""What once ended a whole replay, or was read and ended in an internal error later."""


def _deep_tuple(levels: int) -> str:
    return '{"tuple": [' * levels + "]}" * levels


ALL = [*CORRUPTIONS, *ESCAPED]


@pytest.mark.parametrize(("corrupt", "reason"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_a_corrupt_folder_says_so(tmp_path: Path, corrupt: Any, reason: str) -> None:
    folder = tmp_path / "slug"
    write_case(folder, stored_case(), "repro", "readme")
    corrupt(folder)
    with pytest.raises(CorruptCase) as raised:
        read_case(folder)
    assert reason in raised.value.reason
    assert str(raised.value.path).startswith(str(folder))
    assert str(raised.value) == one_line(str(raised.value))
    assert len(raised.value.reason) <= LONGEST_REASON


def test_arrays_that_are_read_can_be_written_to(tmp_path: Path) -> None:
    write_case(tmp_path / "slug", stored_case(), "repro", "readme")
    arrays = [one for one in read_case(tmp_path / "slug").case.calls[0].arguments if isinstance(one, np.ndarray)]
    assert len(arrays) > 5 and all(array.flags.writeable for array in arrays)


def test_a_text_that_utf_8_cannot_hold_does_not_stop_a_case(tmp_path: Path) -> None:
    write_case(tmp_path / "slug", replace(stored_case(), message="a\udcffb"), "\ud800", "\ud800")
    assert read_case(tmp_path / "slug").message == "a?b"


def test_the_longest_version_prefix_wins() -> None:
    stored = replace(stored_case(), expected=(("0.2", "passes"), ("0.27", "fails"), ("0.27.1", "passes")))
    assert [stored.outcome_on(version) for version in ("0.27.0.post1", "0.27.1", "0.28.0", "0.2")] == [
        "fails", "passes", None, "passes",
    ]  # fmt: skip
