"""How many reduced findings still hold something that does not matter.

Takes each finding apart by its text, which shares no code with the reducer: in turn each pass, statement, function,
parameter, field of a tuple, keyword, attribute and extent of the script is deleted (an extent becomes 1), and the rest
is judged again by the finding's own oracle. Where it fails in the same way, the deleted part did not matter.

    python -m benchmarks.bench_reduce_leftovers OUT [...] [--again] [--only SLUG,SLUG] [--list]

OUT is a campaign's folder, or one of case folders. --again reduces each finding with today's reducer first and says
what that took. A finding with a script that does not say all of its module is left out, and counted.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from corpus.reduce import Candidate, candidate_of, reduce
from corpus.scripts.module_text import live_module, text_of
from corpus.store import CorruptCase, StoredCase, read_case
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.rejudge import Rejudge
from fuzzer.trial.repertoire import Repertoire, repertoire_of
from generators import tvm_api as T
from generators.case import Argument, EntryCall, ModuleText

BUDGET_S = 60.0
TYPE_WORDS = ("dtype", "ndim", "out_ty", "private", "s_tir")
"""Keywords that say what something is: without them the program says something else, and not less."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """One part of a finding less. kind: what the part is; what: which one; candidate: the rest."""

    kind: str
    what: str
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found out of one finding. lines: of its script. leftovers: (kind, what) of parts that do not matter."""

    slug: str
    lines: int
    passes: int
    tried: int
    leftovers: tuple[tuple[str, str], ...]
    seconds: float | None
    calls: int | None


Tree: TypeAlias = ast.Module
Cut: TypeAlias = tuple[str, str, Callable[[Tree], None], Callable[[EntryCall], EntryCall]]


def _same(call: EntryCall) -> EntryCall:
    return call


# --- what can be deleted of a script ----------------------------------------------------------------------


def cuts(tree: Tree) -> Iterator[Cut]:
    """Every deletion: kind, which, what it does to a copy of the tree, and to an entry call."""
    for number, node in enumerate(ast.walk(tree)):
        yield from _cuts_of_statements(number, node)
        yield from _cuts_of_node(number, node)
    numbers = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 1}
    for value in sorted(numbers):
        yield "extent", str(value), _with_number(value), _call_with_extent(value)
    yield "rank", "1s", _scalars, _call_of_scalars


def _cuts_of_statements(number: int, node: ast.AST) -> Iterator[Cut]:
    for name in ("body", "orelse"):
        statements = getattr(node, name, None)
        if isinstance(statements, list):
            for place, statement in enumerate(statements):
                yield from _statement_cuts(number, name, place, statement)


def _cuts_of_node(number: int, node: ast.AST) -> Iterator[Cut]:
    if isinstance(node, ast.FunctionDef):
        for place, argument in enumerate(node.args.args):
            yield "parameter", argument.arg, _without_argument(node.name, place), _call_without(node.name, place)
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
        for place, element in enumerate(node.elts):
            yield "field", ast.unparse(element)[:40], _without_item(number, "elts", place), _same
    if isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg not in TYPE_WORDS:
                yield "keyword", str(keyword.arg), _without_item(number, "keywords", place), _same
    if isinstance(node, ast.Dict) and node.keys:
        for place, key in enumerate(node.keys):
            yield "attribute", ast.unparse(key) if key else "", _without_entry(number, place), _same


def _statement_cuts(number: int, name: str, place: int, statement: ast.stmt) -> Iterator[Cut]:
    if isinstance(statement, (ast.ClassDef, ast.Return)) or "TypeVar" in ast.unparse(statement)[:60]:
        return
    kind = "function" if isinstance(statement, ast.FunctionDef) else "line"
    yield kind, ast.unparse(statement).splitlines()[0][:60], _without_item(number, name, place), _same
    if isinstance(statement, (ast.With, ast.For, ast.If)):
        yield "wrapping", ast.unparse(statement).splitlines()[0][:60], _unwrapped(number, name, place), _same


def _node(tree: Tree, number: int) -> Any:
    return list(ast.walk(tree))[number]


def _without_item(number: int, name: str, place: int) -> Callable[[Tree], None]:
    def cut(tree: Tree) -> None:
        del getattr(_node(tree, number), name)[place]

    return cut


def _unwrapped(number: int, name: str, place: int) -> Callable[[Tree], None]:
    def cut(tree: Tree) -> None:
        statements = getattr(_node(tree, number), name)
        inner = [s for s in statements[place].body if not ast.unparse(s).startswith("R.output")]
        statements[place : place + 1] = inner

    return cut


def _without_entry(number: int, place: int) -> Callable[[Tree], None]:
    def cut(tree: Tree) -> None:
        node = _node(tree, number)
        del node.keys[place], node.values[place]

    return cut


def _without_argument(function: str, place: int) -> Callable[[Tree], None]:
    def cut(tree: Tree) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == function:
                del node.args.args[place]
            elif isinstance(node, ast.Call) and _names(node.func, function):
                del node.args[place]
            elif isinstance(node, ast.Call) and node.args and _names(node.args[0], function):
                given = node.args[1]
                if isinstance(given, ast.Tuple) and place < len(given.elts):
                    del given.elts[place]

    return cut


def _names(node: ast.expr, function: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == function


def _call_without(function: str, place: int) -> Callable[[EntryCall], EntryCall]:
    def cut(call: EntryCall) -> EntryCall:
        if call.function != function:
            return call
        return replace(call, arguments=call.arguments[:place] + call.arguments[place + 1 :])

    return cut


def _with_number(value: int) -> Callable[[Tree], None]:
    def cut(tree: Tree) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value == value:
                node.value = 1

    return cut


def _call_with_extent(value: int) -> Callable[[EntryCall], EntryCall]:
    def smaller(argument: Argument) -> Argument:
        if isinstance(argument, tuple):
            return tuple(smaller(field) for field in argument)
        if not isinstance(argument, np.ndarray):
            return argument
        kept = argument[tuple(slice(1 if extent == value else extent) for extent in argument.shape)]
        return np.array(kept).reshape(kept.shape)

    return lambda call: replace(call, arguments=tuple(smaller(argument) for argument in call.arguments))


def _scalars(tree: Tree) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and node.elts and all(_is_one(element) for element in node.elts):
            node.elts = []


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1


def _call_of_scalars(call: EntryCall) -> EntryCall:
    def scalar(argument: Argument) -> Argument:
        if isinstance(argument, tuple):
            return tuple(scalar(field) for field in argument)
        return argument.reshape(()) if isinstance(argument, np.ndarray) and argument.size == 1 else argument

    return replace(call, arguments=tuple(scalar(argument) for argument in call.arguments))


class _Unannotated(ast.NodeTransformer):
    """Bindings without the types that TVM infers again."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None or ast.unparse(node.annotation).startswith("T."):
            return node
        return ast.Assign([node.target], node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.generic_visit(node)
        node.returns = None
        return node


# --- judging ----------------------------------------------------------------------------------------------


def deletions(tree: Tree, base: Candidate) -> Iterator[Deletion]:
    """Every candidate with one part less that TVM reads and that is another program than `base`."""
    for index, call in enumerate(base.passes):
        yield Deletion("pass", call.name, replace(base, passes=base.passes[:index] + base.passes[index + 1 :]))
    for index, call in enumerate(base.setup):
        yield Deletion("setup", call.name, replace(base, setup=base.setup[:index] + base.setup[index + 1 :]))
    seen = {T.structural_hash(base.module)}
    for kind, what, cut, of_call in cuts(tree):
        smaller = copy.deepcopy(tree)
        with suppress(IndexError):
            cut(smaller)
        module = _read(smaller)
        if module is None or T.structural_hash(module) in seen:
            continue
        seen.add(T.structural_hash(module))
        yield Deletion(kind, what, replace(base, module=module, calls=tuple(map(of_call, base.calls))))


def _read(tree: Tree) -> Any:
    """The module that the script says, None where TVM reads none or an ill-formed one."""
    try:
        return live_module(ModuleText(ast.unparse(ast.fix_missing_locations(tree)) + "\n"))
    except Exception:  # noqa: BLE001 - TVM's parser raises anything
        return None


def rejudging(stored: StoredCase, base: Candidate, scratch: str) -> tuple[Rejudge, Repertoire] | None:
    """What judges rests of a finding; None where the finding does not show here."""
    plan = Plan(0, targets=(stored.case.target,), load=stored.case.load, scratch=scratch)
    repertoire = replace(repertoire_of(plan), under_test=None)
    recorder = Recorder.create(Path(scratch) / f"flight-{os.getpid()}")
    told = Failure(0, stored.oracle, stored.symptom, stored.message, "", stored.culprit, "B", evidence=stored.evidence)
    for failure in Rejudge(plan, repertoire, told, recorder).failures(base):
        if failure.oracle == stored.oracle and failure.symptom == stored.symptom:
            rejudge = Rejudge(plan, repertoire, failure, recorder)
            if rejudge.interesting(base):
                return rejudge, repertoire
    return None


def looked_at(folder: Path, again: bool) -> Looked | str:
    """What is left in one finding, or why that cannot be told."""
    try:
        stored = read_case(folder)
    except CorruptCase as error:
        return f"no case: {error.reason}"
    base = candidate_of(stored.case)
    with tempfile.TemporaryDirectory() as scratch:
        found = rejudging(stored, base, scratch)
        if found is None:
            return "does not show when it is judged alone"
        rejudge, _ = found
        seconds: float | None = None
        calls: int | None = None
        if again:
            reduction = reduce(base, rejudge.interesting, budget_s=BUDGET_S)
            base, seconds, calls = reduction.candidate, reduction.seconds, reduction.oracle_calls
        text = text_of(base.module)
        if text.json is not None:
            return "has no script"
        tree, base = _plain(text.script, base, rejudge)
        tried, left = 0, list[tuple[str, str]]()
        for deletion in deletions(tree, base):
            tried += 1
            if rejudge.interesting(deletion.candidate):
                left.append((deletion.kind, deletion.what))
        lines = sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.script.splitlines())
        return Looked(folder.name, lines, len(base.passes) + len(base.setup), tried, tuple(left), seconds, calls)


def _plain(script: str, base: Candidate, rejudge: Rejudge) -> tuple[Tree, Candidate]:
    """The tree that is cut, without annotations where the finding shows without them."""
    tree = ast.parse(script)
    bare = ast.fix_missing_locations(_Unannotated().visit(copy.deepcopy(tree)))
    module = _read(bare)
    if module is not None and rejudge.interesting(replace(base, module=module)):
        return bare, replace(base, module=module)
    return tree, base


# --- the table --------------------------------------------------------------------------------------------


def folders_of(out: Path) -> list[Path]:
    """The folders of the findings, or of the cases, under a folder."""
    return sorted(file.parent for file in out.rglob("case.json") if "unconfirmed" not in file.parts)


def table(looked: list[Looked]) -> Iterator[str]:
    """What is told of all findings together."""
    left = [one for one in looked if one.leftovers]
    yield f"{len(looked)} findings, {len(left)} ({len(left) / max(1, len(looked)):.0%}) with something that can go"
    kinds = Counter(kind for one in looked for kind in {kind for kind, _ in one.leftovers})
    yield "findings by what can go: " + ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    if looked:
        yield f"lines of the script: median {statistics.median(one.lines for one in looked):g}"
        yield f"passes: median {statistics.median(one.passes for one in looked):g}"
    timed = [one for one in looked if one.seconds is not None and one.calls is not None]
    if timed:
        yield (
            f"reduction: median {statistics.median(one.seconds or 0.0 for one in timed):.2f} s, "
            f"{statistics.median(one.calls or 0 for one in timed):g} calls, "
            f"in all {sum(one.seconds or 0.0 for one in timed):.0f} s, {sum(one.calls or 0 for one in timed)} calls"
        )


def main() -> None:
    """Prints a line for each finding and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--only", help="findings by the end of their names, comma-separated")
    parser.add_argument("--every", type=int, default=1, help="only every n-th finding")
    options = parser.parse_args()
    looked: list[Looked] = []
    unknown: Counter[str] = Counter()
    folders = [folder for out in options.folders for folder in folders_of(out)]
    if options.only:
        folders = [folder for folder in folders if folder.name.endswith(tuple(options.only.split(",")))]
    for folder in folders[:: options.every]:
        start = time.monotonic()
        said = looked_at(folder, options.again)
        if isinstance(said, str):
            unknown[said] += 1
            print(f"{folder.name}: {said}", flush=True)
            continue
        looked.append(said)
        what = "; ".join(f"{kind} {what}" for kind, what in said.leftovers) or "nothing"
        took = f", {said.seconds:.1f} s {said.calls} calls" if said.seconds is not None else ""
        print(f"{said.slug}: {said.lines} lines, {said.passes} passes{took}: {what}", flush=True)
        print(f"  ({said.tried} deletions, {time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
    print(*table(looked), sep="\n")
    for why, number in unknown.most_common():
        print(f"left out: {number} ({why})")


if __name__ == "__main__":
    main()
