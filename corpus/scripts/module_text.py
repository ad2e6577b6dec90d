"""IRModules as text that outlives a process: files that people read, and back to live modules in workers.

A module file is TVMScript with its imports on top, so that it is also a Python file. Constants stand inline
as `R.const(np.array(...))` unless they are huge, since TVM's metadata blobs are unreadable and tied to one version.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import struct
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from corpus.encoding import INLINE_ELEMENTS
from corpus.scripts import rewrites, script_losses
from corpus.scripts.syntax import syntax_of
from generators.case import ModuleText
from generators.dtypes import OF_ML_DTYPES, Array, numpy_dtype

if TYPE_CHECKING:
    from generators.tvm_api import IRModule

IMPORTS = """\
from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T
"""
"""The head of a module file, above the script. Annotations must not be evaluated: Python cannot evaluate
`T.Buffer((n,), "float32")` where n is a TypeVar."""

_ALLOWED_IMPORTS = ("tvm", "numpy", "typing", "ml_dtypes", "__future__")
_METADATA = re.compile(r'^metadata = tvm\.ir\.load_json\("""(.*?)"""\)\n', re.DOTALL | re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line; `str.splitlines` does at other characters, too, which may stand in a comment or a text."""
_CONSTANT = re.compile(r'metadata\["(?:ir\.GenericConst|relax\.expr\.Constant)"\]\[(\d+)\]')


CONSTANT_ELEMENTS = 2048
"""Constants up to this size are written out; larger ones stay in TVM's metadata."""


class UnreadableModule(ValueError):
    """A module file that is neither TVMScript nor TVM JSON, or uses imports other than tvm and numpy."""


# --- text only ------------------------------------------------------------------------------------------


def with_imports(script: str) -> str:
    """The script as the text of a module file."""
    return f"{IMPORTS}\n{without_imports(script).strip()}\n"


def without_imports(text: str) -> str:
    """The text of a module file without its docstring and import lines, as TVM's parser wants it.

    UnreadableModule when the text is not Python, or imports something other than tvm and numpy.
    """
    try:
        tree = syntax_of(text)
    except SyntaxError as error:
        raise UnreadableModule(error.msg if error.lineno is None else f"line {error.lineno}: {error.msg}") from error
    except ValueError as error:  # a null byte
        raise UnreadableModule(str(error)) from error
    lines = _LINE_END.split(text)
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_docstring(node):
            continue
        _check_import(node)
        for number in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[number] = ""
    return "\n".join(lines).strip("\n") + "\n"


def module_of_file(text: str) -> ModuleText:
    """The module in the text of a TVMScript `.py` file or a TVM JSON file. UnreadableModule when it is neither."""
    try:
        if not text.lstrip().startswith("{"):
            return ModuleText(without_imports(text))
        json.loads(text)
    except (RecursionError, MemoryError) as error:  # the parsers' own limits
        raise UnreadableModule(f"nested too deeply ({type(error).__name__})") from error
    except UnreadableModule:
        raise
    except ValueError as error:  # no JSON, or a number of thousands of digits
        raise UnreadableModule(str(error)) from error
    return ModuleText("", text)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imported_names(node: ast.stmt) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            return [node.module or ""]
        case _:
            return []


def _check_import(node: ast.stmt) -> None:
    for name in _imported_names(node):
        if name.split(".")[0] not in _ALLOWED_IMPORTS:
            raise UnreadableModule(f"line {node.lineno}: a module file may import tvm and numpy only, not {name}")


# --- in workers -----------------------------------------------------------------------------------------


def live_module(text: ModuleText) -> IRModule:
    """The IRModule. Worker processes only.

    Raises TVM's own parser or loader error when this TVM cannot read it.
    """
    from generators import tvm_api

    if text.json is not None:
        return tvm_api.module_from_json(text.json)
    import tvm

    script, lines = script_losses.split(without_imports(text.script))
    checked = rewrites.UNCHECKED not in script
    module = tvm.script.from_source(script, script_names(), check_well_formed=checked)
    for line in lines:
        script_losses.apply(module, line)
    return module


def script_names() -> dict[str, object]:
    """What a script may refer to besides its own names. Worker processes only."""
    from typing import TypeVar

    import numpy as np
    import tvm
    from tvm.script import ir, relax, tirx
    from tvm.tirx.layout import Axis

    return {"tvm": tvm, "np": np, "TypeVar": TypeVar, "Axis": Axis, "I": ir, "R": relax, "T": tirx}


def text_of(module: IRModule) -> ModuleText:
    """The module as text. JSON is kept besides only where no script parses back to it. Worker processes only."""
    from generators import tvm_api

    raw = tvm_api.script_of(module)
    try:
        plain = rewrites.readable(inline_constants(raw))
        tried = (_script_that_parses_back(text, module) for text in dict.fromkeys((plain, raw)))
        script = next((text for text in tried if text is not None), None)
    except (SyntaxError, RecursionError):  # A name that Python has not, or an expression too deep for it.
        script = None
    return ModuleText(raw, tvm_api.json_of(module)) if script is None else ModuleText(script)


def _script_that_parses_back(script: str, module: IRModule) -> str | None:
    """The script, with what the printer has lost where something is lost; None where it cannot be said."""
    from generators import tvm_api

    for candidate in (script, *rewrites.scripts(script)):
        parsed = _parsed(candidate)
        if parsed is None:
            continue
        if tvm_api.structural_equal(module, parsed):
            return candidate
        lines = script_losses.lines_for(module, parsed)
        if lines:
            complete = "\n".join([candidate.rstrip("\n"), "", *lines, ""])
            if _parses_back(complete, module):
                return complete
    return None


def _parses_back(script: str, module: IRModule) -> bool:
    from generators import tvm_api

    again = _parsed(script)
    return again is not None and bool(tvm_api.structural_equal(module, again))


def _parsed(script: str) -> IRModule | None:
    """The module that a script parses to; None where TVM cannot read it."""
    import tvm

    try:
        return live_module(ModuleText(script))
    except (tvm.error.DiagnosticError, tvm.error.InternalError, ValueError, TypeError, RuntimeError, SyntaxError):
        return None


# --- constants ------------------------------------------------------------------------------------------


def inline_constants(script: str) -> str:
    """The script with small metadata constants written as `R.const(np.array(...), dtype)`.

    Gives the script back as it is when something other than small constants is in the metadata. The blob is
    decoded here because TVM 0.27 does not load all that it has written: tensors of shape (6, 0), for example.
    """
    blob = _METADATA.search(script)
    if blob is None:
        return script
    texts = _constant_texts(json.loads(ast.literal_eval(f'"""{blob[1]}"""')))
    if texts is None:
        return script
    return _CONSTANT.sub(lambda match: texts[int(match[1])], script[: blob.start()] + script[blob.end() :])


def _constant_texts(metadata: dict[str, Any]) -> list[str] | None:
    """A source text for each constant of TVM's JSON graph of metadata; None when it holds anything else."""
    nodes = metadata["nodes"]
    pairs = nodes[metadata["root_index"]]["data"]
    field = _PAYLOAD.get(nodes[pairs[0]].get("data")) if len(pairs) == 2 else None
    if field is None:
        return None
    texts = []
    for index in nodes[pairs[1]]["data"]:
        array = _decoded_tensor(nodes[nodes[index]["data"][field]]["data"])
        source = None if array is None else array_source(array, CONSTANT_ELEMENTS)
        if array is None or source is None:
            return None
        texts.append(f'R.const({source}, "{array.dtype}")')
    return texts


_PAYLOAD = {"ir.GenericConst": "value", "relax.expr.Constant": "data"}
"""Kinds of constants in metadata, before and since TVM 0.27, and the field that holds the tensor."""
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
"""DLPack's type codes."""
_HEADER = struct.Struct("<QQiiiBBH")
_MAGIC = 0xDD5E40F096B4A13F


def _decoded_tensor(text: str) -> Array | None:
    """The array of a tensor in TVM's format (include/tvm/runtime/tensor.h, SaveDLTensor); None for other dtypes."""
    raw = base64.b64decode(text)
    magic, _, _, _, ndim, code, bits, lanes = _HEADER.unpack_from(raw)
    if magic != _MAGIC or lanes != 1 or code not in _KINDS:
        return None
    shape = struct.unpack_from(f"<{ndim}q", raw, _HEADER.size)
    kind = _KINDS[code]
    dtype = numpy_dtype("bool" if kind == "bool" else f"{kind}{bits}")
    return np.frombuffer(raw, dtype, offset=_HEADER.size + 8 * ndim + 8).reshape(shape)


def array_source(array: Array, most: int = INLINE_ELEMENTS) -> str | None:
    """A NumPy expression for the array, None when it has more than `most` elements and no short form."""
    dtype = str(array.dtype)
    extents = f"{array.shape[0]}" if array.ndim == 1 else str(tuple(array.shape))
    maker, cast = ("float32", f'.astype("{dtype}")') if dtype in OF_ML_DTYPES else (dtype, "")
    flat = array.reshape(-1)
    if flat.size > 1 and (flat == flat[0]).all():
        return f'np.full({extents}, {number_source(flat[0].item())}, "{maker}"){cast}'
    if flat.size > most:
        return None
    if flat.size == 0:
        return f'np.zeros({extents}, "{maker}"){cast}'
    return f'np.array({_nested_source(array.tolist())}, "{maker}"){cast}'


def _nested_source(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested_source(item) for item in value) + "]"
    return number_source(value)


def number_source(number: object) -> str:
    """A Python expression for an int, float or bool, also one of NumPy's."""
    text = repr(number.item() if isinstance(number, np.generic) else number)
    return f'float("{text}")' if text.lstrip("-") in ("nan", "inf") else text


def indented(text: str) -> str:
    """The text one level in, blank lines left empty."""
    return textwrap.indent(text, "    ", lambda line: bool(line.strip()))
