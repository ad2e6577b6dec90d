"""A function without a caller changes nothing for the other functions.

The pass is applied again to the input: without the dead functions that it holds, which programs are drawn with, or,
where there are none or they call functions that live, with a dead copy of one of its own functions added. Either way
all functions are in the form that the phase asks for. What the public functions reach must come out the same, up to
names of private functions, and without an error. Trivial and unused bindings do not count: a pass that finds a private
function to work on may tidy the whole module (InlinePrivateFunctions does), and one that finds none may leave it alone.
So may a pass that rebuilds all functions then (RemoveUnusedOutputs): types become sharper by that, so it is applied to
a module of which none does.
A pass that dies on a dead function is the survival oracle's; reduction leaves the dead function alone of all there was.
"""

from __future__ import annotations

from dataclasses import dataclass

import tvm_ffi
from tvm import relax

from generators import tvm_api as T
from generators.passes.traits import ReadsAllFunctions
from generators.tvm_api import BaseFunc, Call, GlobalVar, IRModule
from oracles.checks.applied_again import incomparable
from oracles.checks.survives import happened_to
from oracles.evidence import WithoutDead
from oracles.ir.compare import (
    first_difference,
    global_vars,
    own_constant,
    part_from,
    public_names,
    rebuilt,
    same_bindings,
    with_functions,
)
from oracles.ir.walk import FUNCTION, PRIM_FUNC
from oracles.live_part import TIDYING
from oracles.oracle import Runs, Stage, StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.tvm_errors import in_a_line
from oracles.verdict import PASSED, Failed, Skipped, Verdict

DEAD = "unused_function"


def candidates(module: IRModule) -> list[BaseFunc]:
    """The functions that refer to no other, by name."""
    named = sorted(module.functions.items(), key=lambda pair: str(pair[0].name_hint))
    return [f for _, f in named if isinstance(f, PRIM_FUNC) or (isinstance(f, FUNCTION) and not global_vars(f))]


def dead_copy(function: BaseFunc) -> BaseFunc:
    """A private copy that shares no variable, constant or call with the function: passes keep maps of them by
    identity, and to share them is nothing that a front end would do."""
    if isinstance(function, PRIM_FUNC):
        copy = T.copy_of(function)
    else:
        fresh = relax.utils.copy_with_new_vars(function)
        copy = tvm_ffi.structural_map(fresh, [(T.Constant, own_constant), (T.Call, _own_call)])
    return copy.without_attr("global_symbol") if T.is_public(copy) else copy


def _own_call(call: Call) -> Call:
    """Calls inside of dimensions stay."""
    if not (T.op_name(call) or "relax.").startswith("relax."):
        return call
    copy = T.Call(call.op, call.args, call.attrs, call.ty_args)
    T.set_type(copy, T.type_of(call))
    return copy


def dead_names(module: IRModule) -> list[GlobalVar]:
    """The functions that no public one reaches, themselves or through others."""
    live = {gvar for gvar, function in module.functions.items() if T.is_public(function)}
    rest = list(live)
    while rest:
        called = {gvar for gvar in global_vars(module[rest.pop()]) if gvar in module.functions} - live
        live |= called
        rest += called
    return [gvar for gvar in module.functions if gvar not in live]


def refer_to_live(module: IRModule, dead: list[GlobalVar]) -> bool:
    """Whether a dead function calls one that lives: a pass that asks all callers of a private function, as one that
    puts in what all of them pass does, counts the dead ones with good reason."""
    called = {gvar for name in dead for gvar in global_vars(module[name])}
    return any(gvar in module.functions and gvar not in dead for gvar in called)


def without(module: IRModule, names: list[GlobalVar]) -> IRModule:
    """The module without these functions."""
    functions = {gvar: function for gvar, function in module.functions.items() if gvar not in names}
    return T.replace_functions(module, functions)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("dead code") with the error, or the first difference in the live part."""
    if (reason := incomparable(step)) is not None:
        return Skipped(reason)
    if step.row.has(ReadsAllFunctions):
        return Skipped("what the pass does to a function follows from all of them", applies=False)
    settled = _settled(step, bench)
    if settled is None:
        return Skipped("the module rebuilt is not taken")
    dead = dead_names(settled.before)
    if not dead or refer_to_live(settled.before, dead):
        return _judge_with_copy(step, settled, bench)
    return _judge_without(step, settled, bench, dead)


@dataclass(frozen=True, slots=True)
class _Settled:
    """The input of a pass in which a mutator of TVM that changes nothing sharpens no type, and the result for it."""

    before: IRModule
    after: IRModule


def _settled(step: Step, bench: Bench) -> _Settled | None:
    """As the step has it, where that is so or the module cannot be rebuilt; else of another application. None where the
    pass does not take it. A script applies the pass to the module as it is: what shows on this one alone has none."""
    assert step.end is not None
    before = bench.guarded(lambda: rebuilt(step.before))
    if isinstance(before, Raised) or T.structural_equal(before, step.before):
        return _Settled(step.before, step.end.module)
    after = bench.apply(step.call, before)
    return None if isinstance(after, Raised) else _Settled(before, after)


def _judge_without(step: Step, settled: _Settled, bench: Bench, dead: list[GlobalVar]) -> Verdict:
    """Whether the result without the dead functions is the live part of the result."""
    result = bench.apply(step.call, without(settled.before, dead))
    if isinstance(result, Raised):
        if not happened_to(result, step):
            return Skipped(f"rejected without dead functions: {step.call.name}")
        message = f"without dead functions the pass raises {in_a_line(result)}"
        return Failed("dead code", message, result.traceback, evidence=WithoutDead())
    difference = _difference(settled.after, result, public_names(settled.before), bench)
    if difference is None:
        return PASSED
    message = f"without dead functions {difference[0]} in the live part is another"
    return Failed("dead code", message, difference[1], evidence=WithoutDead())


def _difference(one: IRModule, other: IRModule, roots: list[str], bench: Bench) -> tuple[str, str] | None:
    """Where what the roots reach differs between two results; None where it does not."""
    one, other = part_from(one, roots), part_from(other, roots)
    if same_bindings(one, other):
        return None
    one, other = tidied(one, bench), tidied(other, bench)
    return None if same_bindings(one, other) else first_difference(one, other)


def _judge_with_copy(step: Step, settled: _Settled, bench: Bench) -> Verdict:
    """Whether a dead copy of one of the functions leaves the live part as it is."""
    options = candidates(settled.before)
    if not options:
        return Skipped("no function to make a dead copy of")
    original = bench.source.pick(options)
    kind = "PrimFunc" if isinstance(original, PRIM_FUNC) else "Relax function"
    copied = bench.guarded(lambda: dead_copy(original))
    if isinstance(copied, Raised):
        return Skipped(f"TVM cannot copy the {kind} of which a dead copy was to be")
    result = bench.apply(step.call, with_functions(settled.before, {DEAD: copied}))
    if isinstance(result, Raised):
        if not happened_to(result, step):
            return Skipped(f"dead {kind} rejected: {step.call.name}")
        message = f"a dead {kind} makes the pass raise {in_a_line(result)}"
        return Failed("dead code", message, result.traceback)
    difference = _difference(settled.after, result, public_names(settled.after), bench)
    if difference is None:
        return PASSED
    return Failed("dead code", f"a dead {kind} changes {difference[0]} in the live part", difference[1])


def tidied(module: IRModule, bench: Bench) -> IRModule:
    """The module without trivial and unused bindings, where the passes that take them away go through."""
    for call in TIDYING:
        tidy = bench.apply(call, module)
        module = module if isinstance(tidy, Raised) else tidy
    return module


ORACLE = StepOracle(
    "dead_code",
    "a function without callers changes nothing for the others",
    judge,
    stage=Stage.COSTLY,
    runs=Runs.PASSES,
    rank=63,
    share=0.03,
    share_of_chosen=1.0,
)
