"""Files that are almost what passfuzz writes: bytes flipped, fields dropped, retyped, huge, deep; for fuzz tests."""

from __future__ import annotations

import io
import json
import os
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.hostile import texts

_DEEP = "passfuzz deep"
_RAW = "passfuzz raw "
_AS_THEY_STAND = {
    **{
        json.dumps(f"{_DEEP} {kind}"): text
        for kind, text in (("[", "[" * 60_000 + "]" * 60_000), ("{", '{"a":' * 60_000))
    },
    **{
        json.dumps(_RAW + text): text
        for text in ("1e400", "NaN", "-Infinity", "1" * 5000, '"\\ud800"', "tru", "01", "")
    },
}
"""What JSON cannot be made to say by Python, by the text that stands in for it."""

_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 5, 7, 10**9, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400),
    *(
        0.5,
        -0.0,
        1e308,
        5e-324,
        "",
        "x",
        "0",
        "nan",
        "inf",
        "[/bold]",
        "../../x",
        "/etc/passwd",
        "\x1b[31m",
        "x" * 5000,
    ),
    *(
        [],
        {},
        [None],
        [[]],
        [0],
        [-1],
        [2**40, 2**40],
        {"a": None},
        {"dtype": "O"},
        {"dtype": "float32", "extents": [9]},
    ),
    *({"dtype": "float32", "extents": [2**62], "npz": "a0"}, {"tuple": [{"tuple": []}]}, {"shape": ["inf"]}),
    *({"scalar": 1e308}, {"scalar": "inf"}, {"dtype": "V8", "extents": [1], "values": [1]}, {"type": "Hung"}),
    *map(json.loads, _AS_THEY_STAND),
)
_odd = st.one_of(
    st.sampled_from(_ODD), texts.filter(lambda text: text.isprintable()), st.integers(), st.floats(allow_nan=False)
)


def _paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where each value in a JSON document stands, but for the document."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path for key, one in inner for path in ((*here, key), *_paths(one, (*here, key)))]


@st.composite
def json_like(draw: st.DrawFn, base: bytes) -> bytes:
    """A JSON document with up to three values dropped, retyped, renamed or doubled."""
    document = json.loads(base)
    for _ in range(draw(st.integers(1, 3))):
        paths = _paths(document)
        if not paths:
            break
        *above, key = draw(st.sampled_from(paths))
        holder = document
        for step in above:
            holder = holder[step]
        match draw(st.sampled_from(("drop", "retype", "retype", "rename", "double"))):
            case "drop":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                holder[draw(texts)] = holder.pop(key)
            case "double" if isinstance(holder, list):
                holder.extend([deepcopy(holder[key]) for _ in range(draw(st.sampled_from((1, 100))))])
            case _:
                holder[key] = deepcopy(draw(_odd))
    text = json.dumps(document)
    for written, raw in _AS_THEY_STAND.items():
        text = text.replace(written, raw)
    return text.encode()


@st.composite
def bytes_like(draw: st.DrawFn, base: bytes) -> bytes:
    """The bytes with some flipped, left out, doubled or put in, or cut off."""
    data = bytearray(base)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(("flip", "cut", "leave out", "double", "put in"))):
            case "flip" if data:
                data[at] ^= draw(st.integers(1, 255))
            case "cut":
                del data[at:]
            case "leave out":
                del data[at : at + draw(st.integers(1, 40))]
            case "double":
                data[at:at] = data[at : at + draw(st.integers(1, 200))]
            case _:
                data[at:at] = draw(st.binary(max_size=20))
    return bytes(data)


def corrupt(base: bytes) -> st.SearchStrategy[bytes]:
    """A JSON document that is corrupt in its structure or in its bytes, or no document at all."""
    return st.one_of(json_like(base), json_like(base), bytes_like(base), st.binary(max_size=50))


_SHAPES = (
    *("(65,)", "(2**40,)", "(1099511627776,)", "(-1,)", "(65.0,)", "()", "(0,)", "65", "(1e400,)", "((65,),)", "None"),
    *("(65,)" * 900, "[" * 90 + "]" * 90, "(" * 3000, "(4294967296, 4294967296, 4294967296)"),
)
_DESCR = (
    *("'<f8'", "'|O'", "'<U9'", "'<f4'", "'>f8'", "'V8'", "[('a', '<f8')]", "'f8,f8'", "'<M8[s]'", "'x'", "None"),
    *("'|b1'", "'<c16'", "('<f8', (2,))", "{'a': 1}", "'<f16'", "b'<f8'", "'(999999,999999)f8'"),
)
_ORDERS = ("False", "True", "1", "L")


@st.composite
def _npy(draw: st.DrawFn) -> bytes:
    """65 numbers with a header that may be wrong, perhaps cut."""
    keys = (("descr", _DESCR), ("fortran_order", _ORDERS), ("shape", _SHAPES))
    fields = ", ".join(f"'{key}': {draw(st.sampled_from(values))}" for key, values in keys)
    header = f"{{{fields}, }}\n".encode()
    version = draw(st.sampled_from((b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00")))
    length = draw(st.sampled_from((len(header), len(header) + 5, 65535)))
    size = length.to_bytes(2 if version[0] == 1 else 4, "little")
    content = b"\x93NUMPY" + version + size + header + np.zeros(65).tobytes()
    return content[: draw(st.sampled_from((len(content), 5, 9, 100, len(content) - 1)))]


@st.composite
def npz_like(draw: st.DrawFn, base: bytes) -> bytes:
    """An archive of arrays with headers, sizes, methods and flags that may be wrong."""
    if draw(st.booleans()):
        return draw(bytes_like(base))
    buffer = io.BytesIO()
    methods = st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(buffer, "w", draw(methods)) as archive:
        for name in draw(st.lists(st.sampled_from(("a0.npy", "a1.npy", "../x.npy", "")), max_size=3, unique=True)):
            archive.writestr(name or "x", draw(_npy()))
    data = bytearray(buffer.getvalue())
    if draw(st.booleans()):  # the sizes, flags and methods of the central directory
        at = data.find(b"PK\x01\x02")
        if at >= 0:
            data[at + draw(st.integers(4, 45))] ^= draw(st.integers(1, 255))
    return bytes(data)


SPECIAL = ("absent", "empty", "folder", "pipe", "loop", "dangling", "device", "sparse", "unreadable")
"""What may stand in place of a file."""


def put(path: Path, what: str) -> None:
    """Puts one of SPECIAL in place of a file."""
    path.unlink(missing_ok=True)
    match what:
        case "absent":
            pass
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "dangling":
            path.symlink_to("nowhere")
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.touch()
            if what == "sparse":
                os.truncate(path, 1 << 40)
            elif what == "unreadable":
                path.chmod(0)
