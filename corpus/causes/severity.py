"""How bad a bug is, in the one set of words that the registry, reports, issues and pages share. No TVM here."""

from __future__ import annotations

import signal
from typing import Literal, TypeAlias, get_args

from oracles.evidence import Died, Evidence, ReferenceTrap, TrapKind
from oracles.verdict import WRONG_GRADIENT, WRONG_RESULT

Severity: TypeAlias = Literal[
    "silent wrong result", "native crash", "official pipeline", "documented phase", "odd order", "limitation"
]
"""The worst first: a wrong result without an error; a process that a signal ended; an official pipeline that fails; a
pass that fails in its documented phase; an order of passes that no pipeline has; a limit that TVM states."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
ODD_ORDER: Severity = "odd order"
SILENT: frozenset[TrapKind] = frozenset(
    ("uninitialised", "out-of-bounds", "use-after-kill", "storage-overlap", "data-race")
)
"""Traps of the reference on which a module that TVM builds runs to its end, and gives other values, or any."""
_SIGNALS = frozenset(one.name for one in signal.Signals)


def severity_of(symptom: str, evidence: Evidence | None, tier: str) -> Severity:
    """How bad a failure is. symptom: whether it is a wrong result, of which there may be no evidence."""
    if tier == "C":
        return ODD_ORDER
    if symptom in (WRONG_RESULT, WRONG_GRADIENT):
        return "silent wrong result"
    match evidence:
        case ReferenceTrap(kind) if kind in SILENT:
            return "silent wrong result"
        case Died(how) if how in _SIGNALS:
            return "native crash"
        case _:
            return "official pipeline" if tier == "A" else "documented phase"
