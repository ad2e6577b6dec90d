"""Rows for passes that a user's file brings (`--load FILE.py`), from the file's CONTRACTS as plain data.

The file itself is evaluated in workers only; what a contract may say is part of the public interface
(docs, "Contracts"): `phase`, `form`, `idempotent`, `preserves_signature`, `needs_target`. Other keys are ignored, and
`ignored` names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from generators.passes.knobs import KNOBS
from generators.passes.row import SAME_CALLING, Fires, PassRow, Phase, Place, Promise
from generators.passes.traits import TakesAnyLoops
from generators.program_facts import Feature

_PHASES: dict[str, Phase] = {
    "relax": Phase.HIGH,
    "legalized": Phase.LEGAL,
    "lowered": Phase.LOWERED,
    "tir": Phase.LEGAL,
}
_FORMS = (None, "any", "sblock", "loops")
_YES_OR_NO = {"idempotent": False, "preserves_signature": True, "needs_target": False}
"""Fields that are true or false, as any value of Python is, and what holds without them or for None."""
_FIELDS = ("phase", "form", *_YES_OR_NO)
_RECIPES = (
    *("chains",) * KNOBS.repeats.chains,
    *("private_twins", "tuples_of_tuples", "tuple_bound", "nested_outputs", "if_on_truths", "twin_branches"),
    *("duplicate_constants", "private_unused_outputs", "kernel_unused_outputs", "private_copies", "kernel_twins"),
    *("siblings", "filled_operands", "compound_dims", "private_effect_in_branch"),
)
"""Shapes of program that rewrites of operators, functions, tuples, branches, constants and shapes look for."""
_LOWERED = ("in_place_updates", "kernels_in_a_row", "call_tir_scalars") * KNOBS.repeats.lowered
"""Shapes of calls of kernels, whose order says what they read."""
_ON_BLOCKS = frozenset({Feature.PRIM_FUNCS, Feature.PART_BLOCKS})
_ON_ANYTHING = frozenset({Feature.ANY_PRIM_FUNCS})
_WHY = "the contract in the loaded file"


def _checked(name: str, contract: Mapping[str, object]) -> tuple[str, str | None]:
    """The contract's phase and form. ValueError, naming pass and key, for values outside the interface."""
    phase, form = contract.get("phase", "relax"), contract.get("form")
    if not isinstance(phase, str) or phase not in _PHASES:
        raise ValueError(f"CONTRACTS[{name!r}]['phase'] is {phase!r}, not one of {', '.join(_PHASES)}")
    if not (form is None or isinstance(form, str)) or form not in _FORMS:
        raise ValueError(f"CONTRACTS[{name!r}]['form'] is {form!r}, not one of sblock, loops, any")
    return phase, form


def _promises(contract: Mapping[str, object], field: str) -> bool:
    value = contract.get(field)
    return _YES_OR_NO[field] if value is None else bool(value)


def source_of(name: str) -> str:
    """The expression that constructs a loaded pass, over the names of its file."""
    return f"PASSES[{name!r}]()"


def _row(name: str, contract: Mapping[str, object]) -> PassRow:
    phase, form = _checked(name, contract)
    needs_target = _promises(contract, "needs_target")
    phases = {_PHASES[phase]}
    if phase == "tir" and form == "loops":
        phases = {Phase.LOOPS, Phase.SYNCED} if needs_target else {Phase.LOOPS}
    fires, space = Fires(recipes=(*_RECIPES, *(_LOWERED if phase == "lowered" else ()))), ""
    if phase == "tir":
        space = "s_tir" if form == "sblock" else "tirx"
        fires = Fires(wants=_ON_BLOCKS if form == "sblock" else _ON_ANYTHING)
    return PassRow(
        name,
        (source_of(name),),
        _WHY,
        Place(frozenset(phases), needs_target=needs_target),
        Promise(
            calling=SAME_CALLING if _promises(contract, "preserves_signature") else "unknown",
            idempotent=_promises(contract, "idempotent"),
            keeps_functions=False,
        ),
        fires,
        traits=(TakesAnyLoops(),) if Phase.LOOPS in phases else (),
        space=space,
    )


def rows_from_contracts(names: Iterable[str], contracts: Mapping[str, Mapping[str, object]]) -> dict[str, PassRow]:
    """One row per loaded pass; without a contract, a high-level pass that keeps meaning and signature. A promise that
    is not made (idempotence) is not held against the pass.

    ValueError when a contract's `phase` or `form` is none of the documented values.
    """
    return {name: _row(name, contracts.get(name, {})) for name in names}


def ignored(names: Collection[str], contracts: Mapping[object, Mapping[object, object]]) -> tuple[str, ...]:
    """A line on each contract of a pass that there is not, and on each field that looks like a misspelt one. Any other
    field is a note of the file's own."""
    lines = []
    for name, contract in contracts.items():
        if name not in names:
            meant = _meant(name, names)
            lines.append(f"CONTRACTS[{name!r}]: no such pass in PASSES{f'; did you mean {meant}?' if meant else ''}")
        for field in contract:
            if field not in _FIELDS and (meant := _meant(field, _FIELDS)):
                lines.append(f"CONTRACTS[{name!r}][{field!r}]: no such field; did you mean {meant}?")
    return tuple(lines)


def _meant(word: object, words: Collection[str]) -> str:
    """The one of the words that looks or sounds like this one; "" for none."""
    close = get_close_matches(str(word), words, n=1, cutoff=0.75)
    return next(iter((*close, *(one for one in words if _sound(one) == _sound(str(word))))), "")


def _sound(word: str) -> str:
    """`fase` is `phase` to the ear, and by its letters no closer to it than `base`, which may be a note."""
    return word.lower().replace("ph", "f")
