"""How small and how fast on large modules: models with a seeded fault each, reduced with a predicate in Python.

The faults, in equal parts: a pass that crashes on a chain of operators (or of statements), one that leaves an undefined
variable behind, one that computes another function, one that hangs. Six passes are asked for; one is to blame.

    python -m benchmarks.bench_reduce_models [--families] [--seed 1] [--only "encoder 8"] [--fault wrong] [--steps]

--families: the 30 modules of `benchmarks.reduce_families`; with --only, a part of a name is enough.

A wrong result is judged by the reference interpreter's values alone, in float64 on both sides. CPU seconds are those of
this process, with the making of the model; children that hang have their own.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm import relax, tirx

from benchmarks.reduce_families import FAMILIES
from benchmarks.reduce_models import MODELS, candidate_of_model
from corpus.reduce import Candidate, Smallest, StepStats, reduce
from corpus.reduce.draft import all_binds, leaves, lift
from corpus.reduce.realise import TVM_ERRORS
from fuzzer.trial.subject.entries import with_entries_in_place
from generators import tvm_api as T
from generators.case import EntryCall, PassCall
from oracles.forked import Ended, forked
from oracles.ir.walk import nodes_of, prim_funcs, relax_functions
from oracles.reference.engine import interpreted
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.values import Tensor, flattened, from_argument

PASSES = tuple(PassCall(f"P{number}", "") for number in range(6))
CULPRIT = PASSES[3]
FAR = 1e-3
"""Results that differ by more than this, relative to the largest, are wrong: right rewrites differ by 1e-6."""
TRIED = 6
"""So many operators are tried, of which a wrong one does not show everywhere: in a branch that is not taken."""
HANGS_S = 0.5
"""When a candidate's child counts as hanging. Others end after milliseconds, on a busy machine after tenths of a
second."""
Predicate = Callable[[Candidate], bool]


# --- patterns -------------------------------------------------------------------------------------------


def chains(module: T.IRModule, length: int) -> set[tuple[str, ...]]:
    """Names of operators (or functions that call_tir calls) that feed one another."""
    found: set[tuple[str, ...]] = set()
    for _, function in lift(module).drafts():
        ends: dict[Any, set[tuple[str, ...]]] = {}
        for bind in all_binds(function.body):
            name = _called(bind.value)
            if name is None:
                continue
            before = {chain for leaf in leaves(bind.value) for chain in ends.get(leaf, ())}
            ends[bind.var] = {(name,), *((*chain, name)[-length:] for chain in before)}
            found |= {chain for chain in ends[bind.var] if len(chain) == length}
    return found


def _called(value: Any) -> str | None:
    name = T.op_name(value)
    if name == "relax.call_tir":
        return str(value.args[0].name_hint)
    return None if name is None else str(name)


def intrinsics(module: T.IRModule) -> set[tuple[str, ...]]:
    """Intrinsics and kinds of operators in the stores of PrimFuncs, in pairs that stand in one function."""
    found: set[tuple[str, ...]] = set()
    for _, function in prim_funcs(module):
        names = sorted({_kind(node) for node in nodes_of(function.body, (T.Call, tirx.Max, tirx.Min, tirx.Div))})
        found |= {(name,) for name in names}
    return found


def _kind(node: Any) -> str:
    return str(node.op.name) if isinstance(node, T.Call) else type(node).__name__


def pattern_of(module: T.IRModule, source: random.Random) -> Callable[[T.IRModule], bool]:
    """Whether a chain of three operators that the module has is in another one; of an intrinsic in PrimFuncs."""
    ways = (partial(chains, length=3), intrinsics) if relax_functions(module) else (intrinsics,)
    way = ways[0] if ways[0](module) else ways[-1]
    wanted = source.choice(sorted(way(module)))
    return lambda other: wanted in way(other)


# --- faults ---------------------------------------------------------------------------------------------


def crashing(start: Candidate, source: random.Random) -> Predicate:
    """A pass that raises on a chain of operators."""
    found = pattern_of(start.module, source)
    return lambda c: CULPRIT in c.passes and found(c.module)


def ill_formed(start: Candidate, source: random.Random) -> Predicate:
    """A pass that makes every third operand of a chain's last operator undefined: TVM's verifier tells."""
    found = pattern_of(start.module, source)

    def interesting(c: Candidate) -> bool:
        if CULPRIT not in c.passes or not found(c.module):
            return False
        try:
            relax.analysis.well_formed(_undefined(c.module))
        except TVM_ERRORS:
            return True
        return False

    return interesting


def _undefined(module: T.IRModule) -> T.IRModule:
    """The module whose first function returns what nothing binds."""
    functions = dict(module.functions.items())
    for gvar, function in functions.items():
        if isinstance(function, relax.Function):
            lost = relax.Var("lost", T.type_of(function.body))
            functions[gvar] = relax.Function(
                function.params, relax.SeqExpr(function.body.blocks, lost), None, function.is_pure, function.attrs
            )
            return tvm.IRModule(functions)
    raise ValueError("the only functions are PrimFuncs")


def hanging(start: Candidate, source: random.Random) -> Predicate:
    """A pass that does not end on a chain of operators, in a child."""
    found = pattern_of(start.module, source)

    def run(c: Candidate) -> None:
        while CULPRIT in c.passes and found(c.module):
            time.sleep(0.01)

    def interesting(c: Candidate) -> bool:
        ended = forked(lambda: run(c), HANGS_S)
        return isinstance(ended, Ended) and ended.by is None and ended.status is None

    return interesting


SWAPPED: dict[str, Callable[..., Any]] = {
    "relax.nn.silu": relax.op.sigmoid,
    "relax.nn.relu": relax.op.abs,
    "relax.tanh": relax.op.sigmoid,
    "relax.nn.gelu": relax.op.nn.relu,
    "relax.nn.softmax": lambda value: relax.op.nn.softmax(value, axis=0),
    "relax.clip": lambda value, *_: relax.op.abs(value),
    "relax.divide": relax.op.multiply,
}
SWAPPED_TIR = {"tirx.exp": tirx.exp2, "tirx.tanh": tirx.sigmoid, "tirx.sqrt": tirx.rsqrt, "tirx.sigmoid": tirx.tanh}


def wrong(start: Candidate, source: random.Random) -> Predicate:
    """A pass that puts one operator (or intrinsic) in another's place, seen by the results."""
    ways = [rewrite for rewrite in (_swapped_operator, _swapped_intrinsic) if rewrite(start.module, source)]
    rewrite = ways[0](start.module, source)
    assert rewrite is not None

    def interesting(c: Candidate) -> bool:
        if CULPRIT not in c.passes:
            return False
        before = results(c.module, c.calls)
        return before is not None and _differ(before, results(rewrite(c.module), c.calls))

    return interesting


def _swapped_operator(module: T.IRModule, source: random.Random) -> Callable[[T.IRModule], T.IRModule] | None:
    names = sorted({name for _, f in relax_functions(module) for name in _operators(f)} & set(SWAPPED))
    if not names:
        return None
    wanted = source.choice(names)

    return lambda other: _Swapped(wanted).of(other)


@relax.expr_functor.mutator
class _Swapped(relax.PyExprMutator):  # type: ignore[misc]
    """Puts another operator in place of `wanted`."""

    def __init__(self, wanted: str) -> None:
        super().__init__()
        self.wanted = wanted

    def of(self, module: T.IRModule) -> T.IRModule:
        """The module with all its Relax functions rewritten."""
        functions = dict(module.functions.items())
        for gvar, function in relax_functions(module):
            functions[gvar] = self.visit_expr(function)
        return tvm.IRModule(functions, attrs=module.attrs)

    def visit_call_(self, call: Any) -> Any:
        """Called by TVM."""
        call = self.visit_expr_post_order(call)
        return SWAPPED[self.wanted](*call.args) if T.op_name(call) == self.wanted else call


def _operators(function: T.RelaxFunction) -> set[str]:
    return {str(T.op_name(call)) for call in nodes_of(function.body, T.Call) if T.op_name(call)}


def _swapped_intrinsic(module: T.IRModule, source: random.Random) -> Callable[[T.IRModule], T.IRModule] | None:
    names = sorted({name for (name,) in intrinsics(module)} & set(SWAPPED_TIR))
    if not names:
        return None
    wanted = source.choice(names)

    def swap(call: T.Call) -> T.Call:
        return SWAPPED_TIR[wanted](*call.args) if _kind(call) == wanted else call

    def rewrite(other: T.IRModule) -> T.IRModule:
        functions = dict(other.functions.items())
        for gvar, function in prim_funcs(other):
            functions[gvar] = function.with_body(tvm_ffi.structural_map(function.body, [(T.Call, swap)]))
        return tvm.IRModule(functions, attrs=other.attrs)

    return rewrite


def results(module: T.IRModule, calls: Sequence[EntryCall]) -> list[np.ndarray[Any, Any]] | None:
    """What the entry calls give, by the reference; None where it traps."""
    if not relax_functions(module):
        module = with_entries_in_place(module)
        (entry,) = [gvar.name_hint for gvar, _ in relax_functions(module)]
        calls = [replace(call, function=entry) for call in calls]
    arrays = []
    for call in calls:
        try:
            value = interpreted(module)(call.function, [from_argument(each) for each in call.arguments])
        except (Trap, Unsupported):
            return None
        arrays += [np.asarray(leaf.value) for leaf in flattened(value) if isinstance(leaf, Tensor)]
    return arrays


def _differ(before: Sequence[np.ndarray[Any, Any]], after: Sequence[np.ndarray[Any, Any]] | None) -> bool:
    if after is None:
        return False
    return any(_far(one, other) for one, other in zip(before, after, strict=True))


def _far(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if not one.size or not np.isfinite(one).all():
        return False
    return bool(np.abs(one - other).max() > FAR * max(np.abs(one).max(), 1e-6))


FAULTS = {"crash": crashing, "ill-formed": ill_formed, "wrong": wrong, "hang": hanging}


# --- the table ------------------------------------------------------------------------------------------


def reduced(model: str, fault: str, seed: int) -> Smallest | None:
    """One reduction; None where the fault does not show on the module."""
    start = replace(candidate_of_model((MODELS | FAMILIES)[model]()), passes=PASSES)
    if fault == "ill-formed" and not relax_functions(start.module):
        return None
    interesting = shown_on(start, model, fault, seed)
    return None if interesting is None else reduce(start, interesting)


def shown_on(start: Candidate, model: str, fault: str, seed: int) -> Predicate | None:
    """What a fault must still show on; None where it does not show on the model."""
    for again in range(TRIED):
        interesting: Predicate = FAULTS[fault](start, random.Random(f"{model} {fault} {seed}{again or ''}"))
        if interesting(start):
            return interesting
    return None


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--steps", action="store_true", help="what each step cost, and the smallest module")
    options = parser.parse_args()
    rows: list[Smallest] = []
    used: list[float] = []
    spent: defaultdict[str, list[StepStats]] = defaultdict(list)
    print("model            fault       bindings      statements    passes  params  calls  seconds  CPU s")
    models = FAMILIES if options.families else MODELS
    for model in [name for name in models if name == options.only] or [name for name in models if options.only in name]:
        for fault in [options.fault] if options.fault else FAULTS:
            began = time.process_time()
            one = reduced(model, fault, options.seed)
            used.append(time.process_time() - began)
            if one is None:
                print(f"{model:16} {fault:11} does not show")
                continue
            rows.append(one)
            for step in one.steps:
                spent[step.name].append(step)
            print(f"{_row(model, fault, one)} {used[-1]:6.2f}", flush=True)
            if options.steps:
                print(one.candidate.module.script())
    if not rows:
        return
    for name, field in (("bindings", "bindings_after"), ("statements", "statements_after"), ("passes", "passes_after")):
        _summary(name, [getattr(row, field) for row in rows])
    _summary("calls", [row.oracle_calls for row in rows])
    _summary("seconds", [row.seconds for row in rows])
    _summary("CPU seconds", used)
    if options.steps:
        for name, each in spent.items():
            tried, accepted = sum(s.tried for s in each), sum(s.accepted for s in each)
            print(f"  {name:32} {tried:6} {accepted:6} {sum(s.seconds for s in each):8.2f} s")


def _row(model: str, fault: str, one: Smallest) -> str:
    bindings = f"{one.bindings_before} -> {one.bindings_after}"
    statements = f"{one.statements_before} -> {one.statements_after}"
    params = sum(len(function.params) for function in one.candidate.module.functions.values())
    ended = "" if one.finished else "  not finished"
    sizes = f"{bindings:13} {statements:13} {one.passes_after:6} {params:7}"
    return f"{model:16} {fault:11} {sizes} {one.oracle_calls:6} {one.seconds:8.2f}{ended}"


def _summary(name: str, numbers: Sequence[float]) -> None:
    print(f"  {name:12} median {statistics.median(numbers):8.2f}  worst {max(numbers):8.2f}")


if __name__ == "__main__":
    main()
