"""A case's way through its passes, written once: apply, stop where one raised, follow what the pass says of its result.

What a pass says of its result is its row: the phase that it leads to, how the result is called, whether barriers
between threads are explicit from there on, what its numbers are held to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from generators.case import PassCall, Tier
from generators.dtypes import coarsest
from generators.passes.row import EVERY_SCOPE, Meaning, PassRow, Phase
from generators.passes.traits import InferenceOnly, Synchronises
from generators.tvm_api import IRModule
from oracles.calls.after_pass import after_pass
from oracles.ir.fingerprint import FINGERPRINTS, fingerprints_after, same_program
from oracles.ir.operators import BATCH_NORM, operator_calls
from oracles.ir.threads import has_loops_of_threads
from oracles.preconditions import refused
from oracles.reference.calling import AppliedPass
from oracles.trace import Bench, Position, Raised, Step


def moved(start: Position, call: PassCall, row: PassRow, module: IRModule, code: int, changed: bool) -> Position:
    """The position after a pass that made `module`, whose fingerprint is `code`, of the module at `start`. changed:
    whether it is another program: a pass out of its phase that found nothing to do has led to no other phase. What it
    says of calls and of barriers holds all the same, so that one that should have changed something is seen."""
    out_of_phase = start.phase not in row.place.phases
    leads = changed or not out_of_phase
    phase = row.place.phase_after(start.phase) if leads else start.phase
    past = leads and row.place.gives is not None and phase > Phase.SYNCED
    calling = start.calling
    if not row.promise.keeps_signature:
        calling = after_pass(calling, row.promise.calling, AppliedPass(call.source, start.module, module))
    return Position(
        module,
        phase,
        calling,
        EVERY_SCOPE if past else start.synchronised.union(_made_explicit(row, module)),
        # Operators that a high-level pass adds to a lowered module need passes that have been applied already.
        start.between or (out_of_phase and changed),
        code,
        coarsest((start.floor, row.promise.lowers_to)) if changed else start.floor,
        start.lost or (_lost_by(row, start.module) if changed else None),
    )


def _made_explicit(row: PassRow, module: IRModule) -> tuple[str, ...]:
    """The scopes of memory in which a pass makes barriers explicit. None where threads are loops still: ThreadSync
    looks into launches alone (src/s_tir/transform/storage_access.cc), so that barriers are implied as before."""
    scopes = row.named(Synchronises)
    return () if scopes and has_loops_of_threads(module) else scopes


def _lost_by(row: PassRow, before: IRModule) -> str | None:
    """Why the numbers of what a pass makes of a module say nothing; None where they do."""
    if row.promise.meaning is Meaning.CHANGED:
        return "numbers: changed on purpose"
    if row.has(InferenceOnly) and _trains(before):
        return "numbers: inference form of a training batch_norm"
    return None


def _trains(module: IRModule) -> bool:
    """Whether a batch_norm of the module asks for training statistics."""
    return any(call.op.name == BATCH_NORM and call.attrs.training for call, _ in operator_calls(module))


def step_of(
    index: int,
    start: Position,
    call: PassCall,
    row: PassRow,
    outcome: IRModule | Raised,
    tier: Tier = "B",
    under_test: bool = True,
    hash_input: bool = True,
) -> Step:
    """The step of a pass that has just been applied to the module at `start`.

    Where the result is made of the very objects of the input, the step ends at the input module: the next pass is
    given that, and what is remembered of it holds. hash_input: False takes it that the pass has left its input as it
    was.
    """
    result = None if isinstance(outcome, Raised) else outcome
    kept, code = fingerprints_after(start.module, result, hash_input)
    if kept != start.code:
        FINGERPRINTS.put(start.module, kept)  # It was changed in place: what was remembered of it is void.
    if isinstance(outcome, Raised):
        return Step(index, call, row, start, outcome, None, False, kept == start.code, tier, under_test)
    if code is None:
        module, code = start.module, kept
    else:
        module = outcome
        FINGERPRINTS.put(outcome, code)
    changed = code != start.code and not (kept == start.code and same_program(start.module, module))
    end = moved(start, call, row, module, code, changed)
    return Step(index, call, row, start, outcome, end, changed, kept == start.code, tier, under_test)


def walk(
    start: Position,
    calls: Iterable[PassCall],
    rows: Mapping[str, PassRow],
    bench: Bench,
    *,
    tiers: Sequence[Tier] = (),
    under_test: Collection[str] | None = None,
    hash_input: bool = True,
    around: Callable[[PassCall], AbstractContextManager[None]] = lambda call: nullcontext(),
) -> Iterator[Step]:
    """Applies the passes one by one, each when the step before it has been looked at. The last step is the first that
    raised, or the last pass.

    rows: a row for each pass. tiers: of each pass, "B" where there are none. under_test: the names of passes whose
    failures count, None for all. hash_input: see `step_of`. around: entered around each application, to time it or to
    say what is being done.
    """
    position = start
    for index, call in enumerate(calls):
        with around(call):
            outcome = refused(rows[call.name], position.module) or bench.apply(call, position.module)
        counts = under_test is None or call.name in under_test
        step = step_of(
            index, position, call, rows[call.name], outcome, tiers[index] if tiers else "B", counts, hash_input
        )
        applications = bench.applications
        yield step
        if step.end is None:
            return
        position = step.end
        if bench.applications != applications:
            # Oracles applied passes to this module meanwhile. What those changed in place is not the next pass's doing.
            position = replace(position, code=FINGERPRINTS.fresh(position.module))
