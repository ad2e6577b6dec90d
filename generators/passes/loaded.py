"""Rows for passes that a user's file brings (`--load FILE.py`), from the file's CONTRACTS as plain data.

The file itself is evaluated in workers only; what a contract may say is part of the public interface
(docs, "Contracts"): `phase`, `form`, `idempotent`, `preserves_signature`, `needs_target`. Other keys are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from generators.passes.knobs import KNOBS
from generators.passes.row import SAME_CALLING, Fires, PassRow, Phase, Place, Promise
from generators.program_facts import Feature

_PHASES: dict[str, Phase] = {
    "relax": Phase.HIGH,
    "legalized": Phase.LEGAL,
    "lowered": Phase.LOWERED,
    "tir": Phase.LEGAL,
}
_FORMS = (None, "any", "sblock", "loops")
_RECIPES = (*("chains",) * KNOBS.repeats.chains, "private_twins", "tuples_of_tuples", "nested_outputs", "if_on_truths")
"""Shapes of program that rewrites of operators, of functions, of tuples and of branches look for."""
_ON_BLOCKS = frozenset({Feature.PRIM_FUNCS, Feature.PART_BLOCKS})
_ON_ANYTHING = frozenset({Feature.ANY_PRIM_FUNCS})
_WHY = "the contract in the loaded file"


def _checked(name: str, contract: Mapping[str, object]) -> tuple[str, str | None]:
    """The contract's phase and form. ValueError, naming pass and key, for values outside the interface."""
    phase, form = contract.get("phase", "relax"), contract.get("form")
    if phase not in _PHASES:
        raise ValueError(f"CONTRACTS[{name!r}]['phase'] is {phase!r}, not one of {', '.join(_PHASES)}")
    if form not in _FORMS:
        raise ValueError(f"CONTRACTS[{name!r}]['form'] is {form!r}, not one of sblock, loops, any")
    return phase, form


def source_of(name: str) -> str:
    """The expression that constructs a loaded pass, over the names of its file."""
    return f"PASSES[{name!r}]()"


def _row(name: str, contract: Mapping[str, object]) -> PassRow:
    phase, form = _checked(name, contract)
    needs_target = bool(contract.get("needs_target", False))
    phases = {_PHASES[phase]}
    if phase == "tir" and form == "loops":
        phases = {Phase.LOOPS, Phase.SYNCED} if needs_target else {Phase.LOOPS}
    fires = Fires(recipes=_RECIPES)
    if phase == "tir":
        fires = Fires(wants=_ON_BLOCKS if form == "sblock" else _ON_ANYTHING)
    return PassRow(
        name,
        (source_of(name),),
        _WHY,
        Place(frozenset(phases), needs_target=needs_target, of_any_loops=Phase.LOOPS in phases),
        Promise(
            calling=SAME_CALLING if contract.get("preserves_signature", True) else "unknown",
            idempotent=bool(contract.get("idempotent", False)),
            keeps_functions=False,
        ),
        fires,
    )


def rows_from_contracts(names: Iterable[str], contracts: Mapping[str, Mapping[str, object]]) -> dict[str, PassRow]:
    """One row per loaded pass; without a contract, a high-level pass that keeps meaning and signature. A promise that
    is not made (idempotence) is not held against the pass.

    ValueError when a contract's `phase` or `form` is none of the documented values.
    """
    return {name: _row(name, contracts.get(name, {})) for name in names}
