"""Expressions that construct passes, in the names of the TVM that is installed. Loads no TVM: it reads TVM's sources.

The pass table is read by processes that no TVM may kill, and a repro script runs without passfuzz. So a text must name
what this TVM has itself.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

RENAMES = (
    ("s_tir.transform.StmtSimplify", "tirx.transform.StmtSimplify"),
    ("relax.VDevice", "tvm.ir.VDevice"),
    ("tvm.sym.", "tvm.arith."),
)
"""What a text calls now, and before. Taken where the first does not exist and the second does."""

_FOLDERS = {
    "relax.transform": "relax/transform",
    "relax.backend": "relax/backend",
    "tirx.transform": "tirx/transform",
    "s_tir.transform": "s_tir/transform",
}
_FILES = {"relax.VDevice": "relax/__init__.py", "tvm.ir.VDevice": "ir/__init__.py"}
"""Where names of other places are exported."""
_CALL = re.compile(rf"\b({'|'.join(map(re.escape, _FOLDERS))})\.([A-Z]\w*)(?:\(([^()]*)\))?")
_DEFINED = re.compile(r"\n(?:def|class) ([A-Z]\w*)")
_KEYWORD = re.compile(r"\b(\w+)=")


def native(text: str) -> str:
    """The text with the names that this TVM has."""
    for new, old in RENAMES:
        if new in text and not _exists(new) and _exists(old):
            text = text.replace(new, old)
    return text


def lacking(text: str) -> str | None:
    """What the text needs and this TVM does not have, in words. None where nothing is missing, and where there is
    no TVM, or one without sources to look into."""
    for place, name, arguments in _CALL.findall(text):
        defined = _definitions(place)
        source = defined.get(name)
        if not defined:
            continue
        if source is None:
            return f"this TVM has no {place}.{name}"
        for keyword in _KEYWORD.findall(arguments):
            if keyword not in source:
                return f"{place}.{name} of this TVM takes no {keyword}"
    if re.search(r"\.ty\b", text) and _mentions("tvm", "relax/expr.py", "class StructInfo"):
        return "expressions of this TVM have no ty"
    if "tvm_ffi.structural_map" in text and _home("tvm_ffi") is not None:
        return None if _mentions("tvm_ffi", "__init__.py", "structural_map") else "this TVM's ffi has no structural_map"
    return None


def _exists(name: str) -> bool:
    if name in _FILES:
        return _mentions("tvm", _FILES[name], name.rpartition(".")[2])
    if name.endswith("."):
        home = _home("tvm")
        return home is not None and (home / name.split(".")[1]).is_dir()
    place, _, last = name.rpartition(".")
    return last in _definitions(place)


@cache
def _home(package: str) -> Path | None:
    """The folder of a package, which is not imported."""
    spec = find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


@cache
def _mentions(package: str, file: str, word: str) -> bool:
    home = _home(package)
    return home is not None and word in _read(home / file)


@cache
def _definitions(place: str) -> dict[str, str]:
    """What the files of a folder define, by name: the text of the file."""
    home = _home("tvm")
    if home is None:
        return {}
    texts = [_read(path) for path in sorted((home / _FOLDERS[place]).glob("*.py"))]
    return {name: text for text in texts for name in _DEFINED.findall(text)}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
