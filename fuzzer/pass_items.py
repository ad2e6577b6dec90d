"""The items of `--passes` where one module is judged: names, calls with arguments, pipelines, FILE.py:PASSES.

An item is read and never evaluated: its arguments are literals and what else the pass table's own constructors say
(`generators.passes.constructors`). With --trust, any expression is taken. No TVM here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.errors import UsageError
from fuzzer.given_paths import read_load
from fuzzer.selection import check_pass_names
from generators.case import PassCall
from generators.passes.constructors import NotOfTheTable, constructor, options_of
from generators.passes.table import NAMED_PIPELINES, PASSES

OPTION = "--passes"
LOADED = "PASSES"
_OF_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)")
_OPENING, _CLOSING = "([{", ")]}"
_HOW = "--trust takes it all the same"


@dataclass(frozen=True, slots=True)
class AskedPasses:
    """The items in order, pipelines taken apart: names, calls (`is_call`), and LOADED for all of the loaded file.

    load: the file that brings passes, None without one.
    """

    items: tuple[str, ...]
    load: Path | None


def read_passes(text: str | None, load: Path | None, config: Sequence[str] = (), trust: bool = False) -> AskedPasses:
    """The passes of a command line. load: the file of --load. config: the values of --config, KEY=VALUE.

    Raises UsageError with one line: an unknown name, an argument that is not plain, a second file.
    """
    loaded = None if load is None else read_load(load)
    options = options_text(config)
    if text is None:
        if options:
            raise UsageError("--config: is for the passes that --passes names")
        return AskedPasses((), loaded)
    items: list[str] = []
    for item in split(text):
        file = _OF_FILE.fullmatch(item)
        if file is not None:
            loaded = _one_file(Path(file["file"]), loaded)
            items.append(LOADED if file["name"] == LOADED else file["name"])
        elif item in NAMED_PIPELINES:
            items += NAMED_PIPELINES[item]
        else:
            items.append(item)
    for item in items:
        if is_call(item):
            call_of(item, trust)
        elif item != LOADED:
            check_pass_names((item,), loaded is not None)
    if options and LOADED in items:
        raise UsageError(f"--config: is for passes by name, and {LOADED} stands for several")
    return AskedPasses(tuple(f"{item}{_WITH}{options}" if options else item for item in items), loaded)


_WITH = "\x1f"
"""Between an item and the options of its PassContext: a character that is not typed."""


def split(text: str) -> list[str]:
    """The items between the commas that are inside of no bracket and no text. Raises UsageError."""
    items, depth, quote, current = list[str](), 0, "", ""
    for before, letter in zip(f" {text}", text, strict=False):
        if quote:
            quote = "" if letter == quote and before != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        if letter == "," and depth == 0 and not quote:
            items.append(current.strip())
            current = ""
        else:
            current += letter
        if depth < 0:
            break
    if depth or quote:
        raise UsageError(f"{OPTION} {text}: a bracket or a text in it has no end, or no beginning")
    items.append(current.strip())
    if "" in items:
        raise UsageError(f"{OPTION} {text}: a name is empty")
    return items


def is_call(item: str) -> bool:
    """Whether an item has arguments: `ConvertLayout({...})`, not `tirx.StmtSimplify[again]`."""
    return "(" in item.partition(_WITH)[0]


def name_of(item: str) -> str:
    """The name of an item's row. Raises UsageError for a call of no pass of the table."""
    plain = item.partition(_WITH)[0]
    return call_of(item, trust=True).name if is_call(item) else plain


def options_in(item: str) -> str:
    """The options of an item's PassContext; "" for none."""
    return item.partition(_WITH)[2]


def call_of(item: str, trust: bool) -> PassCall:
    """The pass of an item with arguments. Raises UsageError: no pass of the table, or not plain and not trusted."""
    plain, _, options = item.partition(_WITH)
    head, _, rest = plain.partition("(")
    name = _row_called(head.strip())
    source = f"{_callee(name)}({rest}"
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{OPTION} {plain}: no call as Python writes it") from error
    if not isinstance(tree, ast.Call) or ast.unparse(tree.func) != _callee(name):
        raise UsageError(f"{OPTION} {plain}: more than one call of a pass")
    try:
        constructor(source)
    except NotOfTheTable as error:
        if not trust:
            raise UsageError(f"{OPTION} {plain}: {error}; {_HOW}") from error
    return PassCall(name, source, options)


def _row_called(head: str) -> str:
    """The row of a pass by its name, or by the function that makes it (`relax.transform.FuseOps`) and no other pass."""
    if head not in PASSES:
        plain = head.removeprefix("tvm.")
        found = [name for name, row in PASSES.items() if row.sources and _callee(name) == plain]
        if len({name.partition("[")[0] for name in found}) == 1:
            return found[0]
    check_pass_names((head,), loaded=False)
    return head


def _callee(name: str) -> str:
    """What constructs the passes of a row, as its first expression says, without a leading `tvm`."""
    row = PASSES[name]
    made = ast.parse(row.sources[0], mode="eval").body if row.sources else None
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        return ast.unparse(made.func).removeprefix("tvm.")
    return f"relax.transform.{name}"


def options_text(config: Sequence[str]) -> str:
    """The options KEY=VALUE as a dict in Python text; "" for none. A VALUE that is no literal is a text.

    Raises UsageError.
    """
    options: dict[str, object] = {}
    for entry in config:
        key, equals, value = entry.partition("=")
        if not (key.strip() and equals):
            raise UsageError(f"--config {entry}: write it as KEY=VALUE, for example tirx.disable_assert=True")
        try:
            options[key.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            options[key.strip()] = value.strip()
    text = repr(options) if options else ""
    try:
        options_of(text)
    except NotOfTheTable as error:
        raise UsageError(f"--config: {error}") from error
    return text


def _one_file(file: Path, loaded: Path | None) -> Path:
    if loaded is not None and loaded.absolute() != file.absolute():
        raise UsageError(f"{OPTION} {file}: only one file can bring passes, and {loaded} does")
    return read_load(file)
