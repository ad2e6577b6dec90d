"""How candidates are written for a user's command: in the style of the file that the user gave, with nothing added.

TVM's own `tvm.script.from_source` refuses imports, and a command may as well import the file as Python: so what stands
above the module in the user's file stands above each candidate, and nothing else does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus.scripts.module_text import inline_constants, text_of, with_imports, without_imports
from corpus.scripts.rewrites import readable
from generators.tvm_api import IRModule, script_of

_METADATA = re.compile(r"^metadata\s*=", re.MULTILINE)
_PRINTED_NAME = "Module"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class UserStyle:
    """head: what stands above the module in the user's file, verbatim. name: of the class. metadata: whether constants
    stand in TVM's metadata. manner: the number of the way in which the module is printed, see `texts`."""

    head: str = ""
    name: str = _PRINTED_NAME
    metadata: bool = False
    manner: int = 0

    def text(self, module: IRModule) -> str:
        """The text of a candidate's file."""
        *_, text = (text for _, text in zip(range(self.manner + 1), self.texts(module), strict=False))
        return text

    def texts(self, module: IRModule) -> Iterator[str]:
        """The file in one manner after the other, the plainest first: as TVM prints the module, without what no parser
        of TVM reads, as it is known to parse back, and with the imports of passfuzz above that."""
        printed = script_of(module)
        shown = printed if self.metadata else inline_constants(printed)
        yield self._dressed(shown)
        yield self._dressed(readable(inline_constants(printed)))
        parses_back = text_of(module).script
        yield self._dressed(parses_back)
        yield with_imports(parses_back)

    def _dressed(self, script: str) -> str:
        """The script below the user's head, under the user's name of the class."""
        lines = script.split("\n")
        while lines and (not lines[0].strip() or lines[0].startswith("#")):
            del lines[0]
        body = "\n".join(lines).rstrip("\n") + "\n"
        if self.name != _PRINTED_NAME:
            body = re.sub(rf"^class {_PRINTED_NAME}\b", f"class {self.name}", body, flags=re.MULTILINE)
            body = re.sub(rf"^(\s+cls = ){_PRINTED_NAME}$", rf"\g<1>{self.name}", body, flags=re.MULTILINE)
        return self.head + body


def style_of(text: str | None) -> UserStyle:
    """The style of a user's file; the plain one for text that is no Python, such as TVM JSON, and for none."""
    if text is None:
        return UserStyle()
    try:
        statements = [node for node in ast.parse(text).body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        without_imports(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UserStyle()
    first = next((node for node in statements if not _is_text(node)), None)
    if first is None:
        return UserStyle()
    line = min(node.lineno for node in (first, *getattr(first, "decorator_list", ())))
    head = "".join(f"{one}\n" for one in _LINE_END.split(text)[: line - 1])
    names = [node.name for node in statements if isinstance(node, ast.ClassDef)]
    return UserStyle(head, names[-1] if names else _PRINTED_NAME, bool(_METADATA.search(text)))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
