"""The constructs of TVM that the interpreter knows, by TVM's names: the keys of its own tables.

The others, each with a reason, are in `oracles.reference.exclusions`. `test_coverage.py` compares both with the names
that TVM registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from oracles.reference import calls, engine, vm_builtins
from oracles.reference.exclusions import Exclusion
from oracles.reference.tir import intrinsics, libraries
from oracles.reference.tir.decode.packed import MADE_ON_THE_SPOT
from oracles.reference.tir.decode.table import RULES

DIALECTS = ("tirx", "s_tir", "prim", "ir")
"""Where the nodes of TIR are registered."""
RUNTIME_PREFIXES = ("vm.builtin.", "relax.run.")
"""Where functions are registered that lowering calls by name."""


def tir_nodes() -> frozenset[str]:
    """The class names of the statements and expressions of TIR that are decoded."""
    return frozenset((*RULES.statements, *RULES.expressions))


def intrinsics_known() -> frozenset[str]:
    """The operators that a Call of TIR may have, without their dialect."""
    tables: Sequence[Iterable[str]] = (
        *(RULES.calls, RULES.pointers, RULES.effects, MADE_ON_THE_SPOT),
        *(intrinsics.INTRINSICS, libraries.LIBRARY_CALLS),
    )
    return frozenset(name for table in tables for name in table) - intrinsics.OF_NODES


def relax_nodes() -> frozenset[str]:
    """The class names of the Relax expressions that have a value."""
    return frozenset(kind.__name__ for kind in engine.EXPRESSIONS)


def runtime_functions() -> frozenset[str]:
    """The run-time functions of the VM that are called by name."""
    tables: Sequence[Iterable[str]] = (
        *(vm_builtins.BUILTINS, vm_builtins.WITH_CONTEXT),
        *(calls.GIVES, calls.LOWERED, calls.EFFECTS, (calls.INVOKE,)),
    )
    names = (name for table in tables for name in table)
    return frozenset(name for name in names if name.startswith(RUNTIME_PREFIXES))


def misplaced(registered: Iterable[str], covered: Iterable[str], excluded: Sequence[Exclusion]) -> dict[str, str]:
    """Faults of the tables: names in none or in several of them, and entries that match no name."""
    names, known = set(registered), set(covered)
    wrong: dict[str, str] = {}
    for name in sorted(names):
        found = [entry.pattern for entry in excluded if fnmatchcase(name, entry.pattern)]
        found += ["covered"] * (name in known)
        if len(found) != 1:
            wrong[name] = f"is in {found}" if found else "is neither covered nor excluded"
    for entry in excluded:
        if not any(fnmatchcase(name, entry.pattern) for name in names):
            wrong[entry.pattern] = "excludes nothing that TVM has"
    for name in sorted(known - names):
        wrong[name] = "is covered, and TVM has no such thing"
    return wrong
