"""How bad a bug is, in the one set of words that the registry, reports, issues and pages share. No TVM here."""

from __future__ import annotations

import signal
from typing import Literal, TypeAlias, get_args

from oracles.reference.errors import symptom_of
from oracles.verdict import WRONG_RESULT

Severity: TypeAlias = Literal[
    "silent wrong result", "native crash", "official pipeline", "documented phase", "odd order", "limitation"
]
"""The worst first: a wrong result without an error; a process that a signal ended; an official pipeline that fails; a
pass that fails in its documented phase; an order of passes that no pipeline has; a limit that TVM states."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
ODD_ORDER: Severity = "odd order"
SILENT = frozenset(
    (
        WRONG_RESULT,
        symptom_of("uninitialised"),
        symptom_of("out-of-bounds"),
        symptom_of("use-after-kill"),
        symptom_of("storage-overlap"),
        symptom_of("data-race"),
    )
)
"""Symptoms of a module that runs to its end and gives other values, or any."""
_SIGNALS = frozenset(one.name for one in signal.Signals)


def severity_of(symptom: str, died: str, tier: str) -> Severity:
    """How bad a failure is. died: the name of the signal that ended the process, an exit status, or ""."""
    if tier == "C":
        return ODD_ORDER
    if symptom in SILENT:
        return "silent wrong result"
    if died in _SIGNALS:
        return "native crash"
    return "official pipeline" if tier == "A" else "documented phase"
