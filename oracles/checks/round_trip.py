"""Text and JSON of what a pass gives back parse to the same module.

JSON that comes back as another module is the pass's fault when its input did come back: it has put something into the
module that is no plain IR. JSON that does not load is the writer's (tensors without elements, 0.27). A script that
does not is the printer's or the parser's, whose name is the culprit; it is reported once a case: for the input of the
first step, or for the first step whose result does not come back while its input does. Names of variables and source
locations may change; so may the names of symbolic dimensions, which the script writes as TypeVars, and the parts of
types that it leaves to be derived anew. Parsing costs about 1 ms a line, hence the small share; and what a step has
left as it was is not read again: a result that is its input, and scripts of PrimFuncs alone.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

import tvm

from generators import tvm_api as T
from generators.tvm_api import IRModule
from oracles.checks.definedness import has_free_names
from oracles.evidence import NotReadBack, TextForm
from oracles.ir.compare import equal, first_changed_node, first_difference, global_vars
from oracles.ir.fingerprint import same_function
from oracles.ir.module_caches import by_module
from oracles.ir.verifier import COMPLAINTS
from oracles.ir.walk import PRIM_FUNC, functions_of
from oracles.oracle import Runs, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.tvm_errors import headline
from oracles.verdict import PASSED, Failed, Skipped, Verdict

PRINTER = "TVMScript"
WRITER = "tvm.ir.save_json"
UNWRITTEN = (".dom.min", ".ty")
"""Ends of access paths whose loss is no loss, and of their beginnings: a script has no place for them. The lower
bound of a block axis is an unwritten zero that takes the dtype of the extent; types of sequences and of regions, and
the layouts of buffers, are derived anew."""
_QUOTED = re.compile(r"^ *\d+ \| +(.*)$", re.MULTILINE)
"""The line of source at which the parser stops."""
_ERRORS = (tvm.error.DiagnosticError, ValueError, TypeError, RuntimeError, SyntaxError)


@dataclass(frozen=True, slots=True)
class TextLoss:
    """A module does not come back from its text. message: what went wrong; detail: all of it. evidence: None where it
    comes back as another module."""

    message: str
    detail: str
    evidence: NotReadBack | None = None

    def failed(self, culprit: str | None) -> Failed:
        """The verdict on it."""
        return Failed("round-trip", self.message, self.detail, culprit, self.evidence)


def script_loss(module: IRModule) -> TextLoss | None:
    """None when the script parses back to an equal module."""
    try:
        text = T.script_of(module)
        again = T.module_from_script(text)
    except _ERRORS as error:
        reason = headline(_without_source(str(error)))
        statement = "" if reason else _statement(str(error))
        why = reason or f"no reason is given{f' at `{statement}`' if statement else ''}"
        return TextLoss(f"script does not parse: {why}", str(error), NotReadBack("script", statement))
    return _compared("script", module, again)


def json_loss(module: IRModule) -> TextLoss | None:
    """The same for TVM's JSON."""
    return _json_loss(module, _loaded(module))


@dataclass(frozen=True, slots=True)
class _NotLoaded:
    error: str


def _loaded(module: IRModule) -> IRModule | _NotLoaded:
    """The module written as JSON and read again."""
    try:
        return T.module_from_json(T.json_of(module))
    except _ERRORS as error:
        return _NotLoaded(str(error))


def _json_loss(module: IRModule, again: IRModule | _NotLoaded) -> TextLoss | None:
    if isinstance(again, _NotLoaded):
        return TextLoss(f"JSON does not load: {headline(again.error)}", again.error, NotReadBack("JSON", ""))
    return _compared("JSON", module, again)


def _compared(form: TextForm, module: IRModule, again: IRModule) -> TextLoss | None:
    if equal(module, again):
        return None
    _, detail = first_difference(module, again)
    path = re.sub(r"\[[^\]]*\]", "", detail.split("\n")[0])
    if form == "script" and (path.endswith(UNWRITTEN) or ".ty." in path):
        return None
    return TextLoss(f"{form} parses to another module: {first_changed_node(module, again)}", detail)


def _without_source(text: str) -> str:
    """The parser's message without the lines of source that it quotes."""
    return text.split("\n -->")[0].removeprefix("error:").strip()


def _statement(text: str) -> str:
    """What stands in for a message, which assertions of TVM's parser lack: the statement that it quotes, where that is
    a line of its own, without the names that it binds. "" where it is not."""
    quoted = _QUOTED.search(text)
    try:
        statement = ast.parse(quoted[1] if quoted else "")
    except SyntaxError:
        return ""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            node.id = "_"
    return ast.unparse(statement)


_SCRIPTS = by_module(script_loss)


def judge_module(module: IRModule) -> Verdict:
    """The same of a module that no pass has touched: what is wrong is the writer's or the printer's."""
    for lost, culprit in ((json_loss, WRITER), (script_loss, PRINTER)):
        if (loss := lost(module)) is not None:
            return loss.failed(culprit)
    return PASSED


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("round-trip"), the pass or the printer being the culprit."""
    if step.after is None:
        return Skipped("no result")
    if step.index and not step.changed:
        return PASSED
    if has_free_names(step.after):
        return Skipped("result breaks scoping")
    if COMPLAINTS.of(step.after):
        return Skipped("result is ill-formed")
    again = _loaded(step.after)
    if (loss := _json_loss(step.after, again)) is not None:
        of_the_pass = not isinstance(again, _NotLoaded) and json_loss(step.before) is None
        return loss.failed(None if of_the_pass else WRITER)
    if step.index == 0 and (loss := _SCRIPTS.of(step.before)) is not None:
        return loss.failed(PRINTER)
    after, before = _touched(step)
    if (loss := _SCRIPTS.fresh(after)) is None:
        return PASSED
    return loss.failed(PRINTER) if _SCRIPTS.of(before) is None else Skipped("input does not round-trip")


def _touched(step: Step) -> tuple[IRModule, IRModule]:
    """What of the result is to be read again, and what it was: the PrimFuncs that are new, where no other functions
    are and none of them calls one; else the whole modules."""
    before, after = functions_of(step.before), functions_of(step.after)
    new = {n: f for n, f in after.items() if n not in before or not same_function(before[n], f)}
    old = {n: before[n] for n in new if n in before}
    alone = all(isinstance(f, PRIM_FUNC) and not global_vars(f) for f in (*new.values(), *old.values()))
    return (tvm.IRModule(new), tvm.IRModule(old)) if new and old and alone else (step.after, step.before)


ORACLE = StepOracle(
    "round_trip",
    "script and JSON of a result parse back to it",
    judge,
    judge_given=judge_module,
    stage=Stage.COSTLY,
    runs=Runs.PASSES,
    rank=65,
    share=0.0007,
)
