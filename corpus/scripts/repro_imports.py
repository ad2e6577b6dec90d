"""The imports of a repro script, read off the names that it uses, and the future import that annotations may need.

No TVM is imported here.
"""

from __future__ import annotations

import ast

from corpus.scripts.syntax import syntax_of

_OF_TVM = ("relax", "s_tir", "tirx")
_MODULES = {
    "shutil": "import shutil",
    "TypeVar": "from typing import TypeVar",
    "np": "import numpy as np",
    "tvm": "import tvm",
    "dpl": "from tvm.relax import dpl",
    "tvm_ffi": "import tvm_ffi",
    "tensor": "from tvm.runtime import tensor",
}
_DIALECTS = {"I": "ir as I", "R": "relax as R", "T": "tirx as T"}
"""What a script may refer to, and the import for it; those of `_OF_TVM` share a line."""


_STANDARD = ("os", "sys")
"""What scripts with an exit status import before all others."""


def imports_for(text: str, plain: bool = False) -> str:
    """The lines that import what the text uses: of modules their attributes, of functions a call.

    plain: for a script for an issue. Names of `_STANDARD` count too.
    """
    used = _used(syntax_of(text))
    lines = [f"import {name}" for name in _STANDARD if name in used and plain]
    lines += [line for name, line in _MODULES.items() if name in used]
    of_tvm = [name for name in _OF_TVM if name in used]
    lines += [f"from tvm import {', '.join(of_tvm)}"] if of_tvm else []
    dialects = [line for name, line in _DIALECTS.items() if name in used]
    if dialects:
        lines.append(f"from tvm.script import {', '.join(dialects)}")
    return "\n".join(lines or ["import tvm"])


def _used(tree: ast.AST) -> set[str]:
    parts = [
        node.value if isinstance(node, ast.Attribute) else node.func
        for node in ast.walk(tree)
        if isinstance(node, (ast.Attribute, ast.Call))
    ]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def needs_late_annotations(script: str) -> bool:
    """Whether Python cannot evaluate annotations of functions: they name TypeVars, have R.Prim(value=...), or name a
    dimension of a buffer before the parameter that is it."""
    functions = [node for node in ast.walk(syntax_of(script)) if isinstance(node, ast.FunctionDef)]
    annotations = [p.annotation for f in functions for p in f.args.args] + [f.returns for f in functions]
    nodes = [node for annotation in annotations if annotation for node in ast.walk(annotation)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    buffers = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "T.Buffer"]
    quoted = any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) for b in buffers for one in ast.walk(b.args[0])
    )
    return quoted or not (names <= {"R", "T", "I", "iter"} and keywords <= {"dtype", "ndim", "vdevice"})
