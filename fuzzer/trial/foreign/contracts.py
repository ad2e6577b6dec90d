"""What may be expected of a pass that a test applies, from its name and what it did. Worker processes only.

A pass object shows its name and not its arguments. It is held to a row of the pass table where one of the row's own
constructors gives the same module; else only to what the row promises for all arguments. A pass of no row is
held to what every pass owes: well-formed in, well-formed out, and the input left alone (apache/tvm#17340, #17205).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import tvm

from generators import tvm_api as T
from generators.case import Tier
from generators.passes.phases import UNMEMORIED
from generators.passes.row import SAME_CALLING, Meaning, PassRow, Phase, Place, Promise
from generators.passes.table import rows_named, with_trait
from generators.passes.traits import AlsoMadeBy, Consumes, FollowsArguments, InferenceOnly, InPlaceOnly
from oracles.calls.table import CONVENTIONS
from oracles.checks.idempotence import does_more_again
from oracles.evidence import AttributeGone, Evidence
from oracles.ir.walk import relax_functions
from oracles.oracle import Knowledge as Knowledge
from oracles.oracle import StepOracle
from oracles.table import ORACLES
from oracles.trace import Raised
from oracles.workbench import constructed

R = TypeVar("R")


class Guarded(Protocol):
    """Does something, and gives what TVM raised as a value."""

    def __call__(self, action: Callable[[], R]) -> R | Raised: ...


def is_by_request(evidence: Evidence | None) -> bool:
    """Whether a failed verdict is about an attribute that some pass of the table consumes."""
    return isinstance(evidence, AttributeGone) and any(evidence.key in asked.names for _, asked in with_trait(Consumes))


def asked_of(contract: Contract, module: T.IRModule) -> list[StepOracle]:
    """The oracles that have a say on what such a pass made of `module`, in their order."""
    steps = [row for row in ORACLES.values() if isinstance(row, StepOracle)]
    rows = [row for row in steps if row.holds_at(contract.known)]
    settles = promises_idempotence(contract, module)
    return [row for row in rows if settles or not row.of_idempotent]


def promises_idempotence(contract: Contract, module: T.IRModule) -> bool:
    """Whether a second application must change nothing of what this one makes of `module`.

    Rows promise it under TVM's default options, and only where the module holds nothing of what their trait `AgainWith`
    names.
    """
    if contract.known is not Knowledge.ROW or dict(tvm.transform.PassContext.current().config.items()):
        return False
    return not does_more_again(contract.row, module)


@dataclass(frozen=True, slots=True)
class Contract:
    """What a pass is held to. source: the constructor that gives the same module; "" where there is none known."""

    row: PassRow
    known: Knowledge
    source: str = ""


def tier_of(contract: Contract, phase: Phase) -> Tier:
    """ "C" where a pass is outside of its documented phases, "B" elsewhere; phases of TIR passes do not show."""
    phases = contract.row.place.phases
    shown = phase in phases or contract.known is Knowledge.NOTHING or min(phases) > Phase.SHAPELESS
    return "B" if shown else "C"


def contract_of(
    name: str,
    before: T.IRModule,
    after: T.IRModule,
    guarded: Guarded,
    same_meaning: frozenset[str],
) -> Contract:
    """The contract of the pass `name` that made `after` of `before`.

    same_meaning: passes of no row that the user says
    keep meaning and signature.
    """
    rows = rows_named(name)
    for row in rows:
        for source in (*row.sources, *row.named(AlsoMadeBy)):
            if _gives(source, before, after, guarded):
                return Contract(row, Knowledge.ROW, source)
    if rows:
        return Contract(rows[0], Knowledge.NAME)
    source = _of_tir(name)
    if source and not _gives(source, before, after, guarded):
        source = ""
    return Contract(row_of_no_table(name, same_meaning), Knowledge.NOTHING, source)


def row_of_no_table(name: str, same_meaning: frozenset[str] = frozenset()) -> PassRow:
    """The row of a pass that the table does not have: nothing is promised but, for some, the meaning."""
    keeps = name in same_meaning
    return PassRow(
        name,
        (),
        "a pass of no row",
        Place(UNMEMORIED),
        Promise(
            calling=SAME_CALLING if keeps else "unknown",
            meaning=Meaning.ROUNDED if keeps else Meaning.CHANGED,
            idempotent=False,
        ),
    )


def _of_tir(name: str) -> str:
    """How a pass over PrimFuncs with this name is constructed without arguments; "" for any other."""
    dialect, _, rest = name.partition(".")
    return f"tvm.{dialect}.transform.{rest}()" if dialect in ("s_tir", "tirx") and rest.isidentifier() else ""


def _gives(source: str, before: T.IRModule, after: T.IRModule, guarded: Guarded) -> bool:
    again = guarded(lambda: constructed(source)(before.clone()))
    return not isinstance(again, Raised) and bool(T.structural_equal(after, again, map_free_vars=True))


def no_numbers(contract: Contract, module: T.IRModule) -> str | None:
    """Why the numbers before and after the pass on `module` are not compared; None where they are."""
    row = contract.row
    if contract.known is Knowledge.NOTHING:
        return "numbers: a pass of no row" if row.promise.meaning is Meaning.CHANGED else None
    if row.promise.meaning is Meaning.CHANGED:
        return "numbers: changed on purpose"
    if row.has(InPlaceOnly) and not relax_functions(module):
        return "numbers: the pass changes how a PrimFunc is called"
    if CONVENTIONS[row.promise.calling].by_name:
        return "numbers: what the pass keeps follows from its arguments"
    if contract.known is Knowledge.ROW:
        return None
    if not row.promise.keeps_signature or row.has(FollowsArguments) or len(rows_named(row.name)) > 1:
        return "numbers: what the pass keeps follows from its arguments"
    return None


def keeps_meaning(contract: Contract, module: T.IRModule) -> bool:
    """Whether the numbers of `module` must stay what they are, and so those of a whole that holds the pass."""
    row = contract.row
    unbound = row.promise.keeps_signature and row.promise.lowers_to is None and not row.has(InferenceOnly)
    return unbound and no_numbers(contract, module) is None
