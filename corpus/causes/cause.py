"""When two findings have one cause: what people count, what the registry of known causes holds, what makes a job red.

A signature is exact and names a folder; a cause is one root cause in TVM, as far as it can be seen from outside. It is
coarser than a signature if one bug shows in many ways, and finer if a signature covers several bugs. The oracle, the
tier and the pipeline do not count. Only text and typed evidence; TVM is not imported here.

The rules:
- A hang, or memory without bound: the pass, and what the reduced module holds. The place depends on the input.
- A process that a pass leaves with lower limits, another handler or a timer: the pass, and what it leaves.
- A result that depends on addresses: the pass. What differs is whatever it has put in that order.
- A native crash: the first function of TVM in the printed backtrace, with the pass unless it is the run-time library,
  which runs after all passes. A backtrace does not name functions that a library does not export: then it is the pass
  with what the reduced module holds, marked as a guess. If the reference finds a wrong result before the code that
  crashes, that result is the cause: if a pass plans memory wrongly, the crash may be anywhere in the run-time library.
- An operator that an official pipeline leaves for the VM: why the pass that lowers operators has left it.
- An error: the place of the check that failed, with its message if the check is about one thing. A check in the pass's
  own file, an operator's lowering, an analysis or a code generator says whose bug it is. The message distinguishes the
  checks of one function (places have no line numbers, which change with every release). In a file that several passes
  use the pass counts too. The message of a check in a library (constructors, casts, containers, type inference,
  schedule primitives) describes its argument: there the caller counts and not the message, since one wrong caller
  fails many checks. Which intrinsic a code generator lacks does not count, since that depends on the dtype; a function
  that it calls and CUDA does not have does, since each has a rule of its own.
- A wrong structure: the pass and the kind of binding that breaks, whatever else the module shows. This includes an
  analyzer that is given one variable twice, and what code generation raises on such a module.
- A wrong result: the pass, the kind of difference (value, shape, dtype, data-race, ...) and the shape of the rewrite
  (`oracles.ir.rewrite`). Code generation rewrites nothing that can be compared: there it is the kinds of nodes that
  store the wrong elements. If the shape or dtype is wrong, the cause is the wrong type that a pass gave to a binding;
  all passes that lower operators count as one there, since they share the lowerings. In a pass with code for each
  operator, it is the operator whose code alone is wrong, with those attributes of its call that are not the default. If
  the rewrite names no operator, those of the reduced module count, or else what its PrimFuncs store, and the dtypes of
  its floats. Of a pass that leaves the program as it was it is that it does. A pass that computes values with the code
  of a build has the cause of the wrong pass of that build.
- A wrong gradient: the pass, and the operators of the reduced function without the sum or the mean that its loss is.
- A use of a value after its kill, by a pass that is not documented for modules with kills: no culprit. Every pass that
  moves bindings does it, since a kill does not say which uses it must follow (apache/tvm: CanonicalizeBindings moves
  tuples).
- What a rule or a pass that schedules by itself meets: a primitive that refuses says so to its caller, who should have
  asked or declined. One missing question shows in whichever primitive comes first, so the caller is the cause. An
  internal check of a primitive that fails is the primitive's own bug, whoever applies it.
- A pass that applies rules of others: the rule that does it, as if it had been applied alone; but the pass, if it
  writes into its input. What a search of
  MetaSchedule is made of works on what the rules before it have done: there it is the rule, the post-processor or the
  mutator with which the failure first appears (`fuzzer.trial.cause.rules`), since no traceback names it. A pass of the
  build that dies of a schedule that was found is the cause itself: other passes make such schedules too.
- A schedule: the last primitive; reduction has dropped what is not needed, and the others prepare it. Where it changes
  the module in place, itself or for a tuner, it is any, since all primitives replace statements by one function. If the
  result is wrong it is the primitive from which on it is, also in a rule of dlight: no primitive may change what is
  computed. The rule itself is it where the primitive only marks a loop or a buffer. What a primitive has moved, copied
  or renamed depends on the program. So it is what none may do that counts: read before the write, lose a statement or
  an iteration, give another init (`oracles.ir.scheduled`).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from corpus.causes.cause_message import message_of, of_any_operator, without_names, without_types
from corpus.causes.culprit import culprit_from, writer_of
from corpus.causes.failure_facts import FailureFacts, Rewrite
from corpus.causes.signature import message_of_failure, normalise
from corpus.causes.throw_site import (
    ThrowSite,
    called_operator,
    crashed_in,
    defines_variables,
    is_of_others,
    is_own,
    is_shared,
    is_telling,
    last_called,
    raised_in_python,
    sites,
)
from oracles.evidence import (
    AcrossProcesses,
    AnotherForm,
    AttributeGone,
    ChangedSignature,
    Died,
    HostTouchesDevice,
    Hung,
    InKernel,
    OutOfMemory,
    ReferenceTrap,
    RefusedByNvcc,
    SpoiltProcess,
    WrongGradient,
)
from oracles.ir.kinds import IRKind, Piece, nodes, of_any_comparison
from oracles.tvm_frames import crashed, last_words
from oracles.verdict import (
    CODEGEN,
    CRASH,
    DEFINED_TWICE,
    DOES_NOT_BUILD,
    DOES_NOT_RUN,
    INPUT_CHANGED,
    WRONG_RESULT,
    Failed,
    wrong_call,
)

UNCERTAIN = "perhaps "
"""Begins a cause that is a guess: it may be the same bug as another cause, or several bugs."""
LONGEST = 200  # characters of a cause


@dataclass(frozen=True, slots=True)
class Cause:
    """The identity of a root cause: two findings are counted as one iff theirs are equal.

    blames: the pass, or what is blamed in its place; "" where `place` alone says whose bug it is. what: the message
    without names, or the shape of the rewrite. certain: False where it is a guess. place: in TVM, the file and function
    of the check that fails, or the function that crashes; "" where the pass says enough. At least one of the two.
    """

    blames: str
    what: str
    certain: bool = True
    place: str = ""

    @property
    def where(self) -> str:
        """The place and the pass, as far as each is part of it."""
        return f"{self.place} in {self.blames}" if self.place and self.blames else self.place or self.blames

    def __str__(self) -> str:
        """One line of at most LONGEST printable characters; where it is cut, the end is a digest of the whole."""
        text = f"{'' if self.certain else UNCERTAIN}{self.where}: {self.what}"
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        if len(line) <= LONGEST:
            return line
        return f"{line[: LONGEST - 12]}... {hashlib.sha256(line.encode()).hexdigest()[:8]}"


def cause_of(oracle: str, failed: Failed, culprit: str, facts: FailureFacts | None = None) -> Cause:
    """The cause of a failed verdict of a reduced case.

    oracle: no rule asks for it, since several oracles may see one bug. `failed.detail` is TVM's traceback, or what a
    process that crashed printed. culprit: the pass that is blamed. facts: what else is known of the failure.
    """
    known = facts or FailureFacts()
    blamed = known.rule or str(culprit_from(culprit).last)
    if known.earlier is not None:
        return cause_of(oracle, known.earlier, known.running, replace(known, earlier=None, running=""))
    running = known.running or blamed
    match failed.evidence:
        case Hung():
            return Cause(running, f"does not end{_on(known.holds)}")
        case OutOfMemory():
            return Cause(running, f"takes memory without bound{_on(known.holds)}")
        case SpoiltProcess(what):
            return Cause(blamed, f"leaves its process with {what}")
        case AcrossProcesses():
            return Cause(blamed, "gives different results in different processes")
        case HostTouchesDevice():
            return Cause(blamed, "lets host code pass that touches memory of a device")
        case WrongGradient():
            return Cause(blamed, f"gives a wrong gradient{_on(known.operators)}", certain=len(known.operators) == 1)
        case ReferenceTrap(kind="use-after-kill") if known.ends_lives:
            return Cause("a pass on a module that ends lives", "moves a use of a value past the end of its life")
    if known.left:
        said = f": {without_names(of_any_operator(known.logged))}" if known.logged else ""
        return Cause(known.left_by, f"{known.left}{said}")
    if isinstance(failed.evidence, Died) or crashed(failed.detail):
        return _native(failed, blamed, running, known)
    if failed.symptom in (CRASH, DOES_NOT_BUILD, DOES_NOT_RUN) or sites(failed.detail):
        return _thrown(failed, running, known)
    return _wrong(failed, blamed, known)


def _on(kinds: tuple[str, ...]) -> str:
    """What is added to a cause that would be a pass alone without it."""
    return f" on {', '.join(kinds)}" if kinds else ""


# --- crashes --------------------------------------------------------------------------------------------


def _native(failed: Failed, blamed: str, running: str, known: FailureFacts) -> Cause:
    if known.broken:  # A pass left a module that cannot be compiled: a later pass, or the code, crashes.
        return Cause(known.broken_by or running, known.broken)
    site = crashed_in(failed.detail)
    how = failed.evidence.how if isinstance(failed.evidence, Died) else "a crash"
    if site is None:
        if said := last_words(failed.detail):
            return Cause("any pass" if _OF_ONE_PLACE.search(said) else running, f"ends by {how}: {without_names(said)}")
        here = Cause(running, f"ends by {how}{_on(known.holds)}", certain=False)
        return _on_one_operator(here, known) or here
    of_run_time = site.function.startswith("runtime::")
    return Cause("" if of_run_time else running, "crash", place=site.function)


_OF_ONE_PLACE = re.compile(r"^Check failed: \(?[^:(]*\b\w{10,}_\b")
"""A check of a member whose name is long enough for one class, as C++ quotes its condition."""


def _without_function(failed: Failed, running: str) -> Cause | None:
    """The cause where nvcc does not know a function that a code generator calls, whose name is the generator's."""
    unknown = failed.evidence.unknown if isinstance(failed.evidence, RefusedByNvcc) else ""
    return Cause(running, f"nvcc: knows no function {unknown}") if unknown else None


def _thrown(failed: Failed, running: str, known: FailureFacts) -> Cause:
    """The cause of an error. `running`: the innermost pass."""
    if known.broken:  # A pass left a module on which a later pass, or code generation, fails.
        return Cause(known.broken_by or running, known.broken)
    passed, said = sites(failed.detail), message_of(failed)
    if not passed or is_of_others(failed.detail):
        return _without_function(failed, running) or Cause(running, said, certain=bool(passed))
    site = passed[-1]
    if is_telling(site) or is_own(site, running):
        return Cause("", _of_any_intrinsic(site, said, known), place=str(site))
    caller = next((one for one in reversed(passed) if is_telling(one)), None)
    if site.file == _PRIMITIVES and _REFUSAL.search(failed.detail) and culprit_from(running).primitives is None:
        return Cause(running, _REFUSED) if caller is None else Cause("", _REFUSED, place=caller.file)
    if site.file.startswith(_IN_PRIMITIVES) and said.startswith(_INTERNAL):  # No refusal: the primitive's own bug.
        return Cause("", said, place=str(site))
    if is_shared(site) and caller is None:
        return Cause(running, said, place=str(site))
    if site.file == _THREADS:  # It hands on what raised in a thread, as the end of its message.
        return Cause(running, said)
    if site.is_python and raised_in_python(failed.detail):
        return Cause(running, said, place=str(site))
    here = Cause(running, said) if caller is None else Cause("", said, place=str(caller))
    if site.is_python:  # It called C++ code that names no file.
        return _nameless(failed, here, known)
    if defines_variables(site):
        return replace(here, what=DEFINED_TWICE)
    if called := known.called or called_operator(failed.detail):
        return replace(here, what=wrong_call(called))
    of_pass = known.operators if caller is None and known.each else ()
    return replace(here, what=f"fails in {_library(site)}{_on(of_pass)}")


def _nameless(failed: Failed, here: Cause, known: FailureFacts) -> Cause:
    """The cause of an error in C++ that names no file: casts and containers of the FFI, and the C++ library. A pass
    with code for each operator may fail on one of them in many ways, with many messages. here: who calls it, and what
    the message says."""
    if native := last_called(failed.detail):
        return replace(here, what=f"{native}: {here.what}")
    return _on_one_operator(here, known) or replace(here, certain=False)


def _on_one_operator(here: Cause, known: FailureFacts) -> Cause | None:
    """Of a failure without a place on one operator, which each has code for: what raises may also end the process."""
    one = known.operators[0] if known.each and len(known.operators) == 1 else ""
    return replace(here, what=f"fails on {one}", certain=False) if one else None


_PRIMITIVES = "src/s_tir/schedule/concrete_schedule.cc"
_IN_PRIMITIVES = "src/s_tir/schedule/primitive/"
_INTERNAL = "InternalError: "
_THREADS = "src/s_tir/support/parallel_for.h"
_REFUSAL = re.compile(r"^(?:\w+\.)*ScheduleError: ", re.MULTILINE)
_REFUSED = "raises what a schedule primitive refuses with, and does not decline"
_CONSTRUCTOR = re.compile(r"(?:^|::)(\w+)::\1$")
_BINDERS = ("Let", "Bind", "LetStmt")  # one construct as an expression and as a statement


def _library(site: ThrowSite) -> str:
    made = _CONSTRUCTOR.search(site.function)
    if made is None:
        return str(site)
    return f"the constructor of {'a binding in TIR' if made[1] in _BINDERS else made[1]}"


_INTRINSIC = re.compile(r"\btirx\.\w+")


def _of_any_intrinsic(site: ThrowSite, said: str, known: FailureFacts) -> str:
    """A message of a code generator: the dtype decides which intrinsics it has no code for. That for CUDA is built on
    that for C, and has rules of its own."""
    if not site.file.startswith("src/target/") or not _INTRINSIC.search(said):
        return said
    of = " for CUDA" if known.threads and "/llvm/" not in site.file else ""
    of += f" of {', '.join(known.floats)}" if known.floats else ""
    return f"{_INTRINSIC.sub('<intrinsic>', said)}{of}"


# --- wrong modules and results --------------------------------------------------------------------------


def _wrong(failed: Failed, blamed: str, known: FailureFacts) -> Cause:
    match failed.evidence:
        case AttributeGone(key):
            return Cause(blamed, f"loses the attribute {key}")
        case InKernel(kind=kind):
            return Cause(blamed, f"{kind}: {known.rewrite}", certain=known.rewrite is not None)
    if failed.symptom == INPUT_CHANGED:
        return Cause(writer_of(blamed), "changes the module that it is given")
    if known.broken:
        return Cause(known.broken_by or blamed, known.broken)
    match failed.evidence:
        case ChangedSignature() | AnotherForm() | ReferenceTrap(kind="out-of-bounds") if known.retyped:
            return Cause(known.retyped_by, known.retyped)
    if (difference := _difference(failed)) is not None:
        return _of_numbers(difference, blamed, known)
    if known.rewrite is not None:
        return Cause(blamed, f"{failed.symptom}: {known.rewrite}")
    return Cause(blamed, without_types(normalise(message_of_failure(failed), in_order=True)) + _aside(failed.message))


_ASIDE = re.compile(r"\bat <root>[\w.\[\]]*?\.(node\.dom|buffer\.(?:elem_offset|strides|shape))\b")
"""Parts of nodes that passes forget to rewrite, as TVM's verifier names the place of a variable: no code runs there."""


def _aside(message: str) -> str:
    match = _ASIDE.search(message)
    return "" if match is None else f", in {match[1]}"


FOLLOWS_VALUES = frozenset({"uninitialised", "out-of-bounds"})
"""The same wrong rewrite may be one of these traps in one program and a wrong number or NaN in the next: a wrong index
is outside of a small buffer and inside of a large one; a missing store leaves an element as it was."""


def _difference(failed: Failed) -> str | None:
    """The kind of difference of a wrong result, or of the trap that stands for it; None for any other failure."""
    match failed.evidence:
        case AnotherForm(what):
            return what
        case ReferenceTrap(kind):
            return "value" if kind in FOLLOWS_VALUES else kind
    return "value" if failed.symptom == WRONG_RESULT else None


_OVER_THREADS = IRKind(Piece.MARK, "reduce_scope")
"""A reduction over threads as SplitHostDevice moves it into a kernel. What it is given memory of the host for says who
allocates that outside of kernels."""
_DIVISIONS = nodes("Div", "Mod", "FloorDiv", "FloorMod")


def _of_numbers(kind: str, blamed: str, known: FailureFacts) -> Cause:
    if blamed == CODEGEN:
        run = known.stored or known.operators  # The latter call functions of TVM, and no PrimFunc.
        return Cause(blamed, f"{kind}: {', '.join(run) or 'a store'}", certain=bool(run))
    if known.misdone:
        return Cause(blamed, f"{kind}: {known.misdone}")
    if kind == "undefined-variable":  # Which parts were moved around it depends on the program.
        return Cause(blamed, kind)
    what = known.rewrite
    if kind == "host-memory":
        reduces = what is not None and _OVER_THREADS in what.removed
        return Cause(blamed, f"{kind}: {'of a reduction over threads' if reduces else 'of a thread'}")
    if kind == "division-by-zero" and what and what.added and _DIVISIONS & {*what.removed}:
        what = replace(what, removed=())
    if kind == "type" and what is not None:
        what = replace(what, removed=of_any_comparison(what.removed), added=of_any_comparison(what.added))
    on = (*(known.operators or known.stored), *known.floats) if what is not None and what.everywhere else ()
    return Cause(blamed, f"{kind}: {what or Rewrite()}{_on(on)}", certain=what is not None)
