"""Reads what cases said before they had evidence: the one place where the words of a message decide something.

Case folders of schema 1 stay readable for ever. What their messages say never changes, so neither does this file.
"""

from __future__ import annotations

import re
import signal

from oracles.evidence import (
    AcrossProcesses,
    AttributeGone,
    ChangedSignature,
    DeadBinding,
    Died,
    Evidence,
    GivenToCallTir,
    Hung,
    NotANumber,
    OutOfMemory,
    ReferenceTrap,
    WithoutDead,
)

_DEAD_BINDING = re.compile(r"a dead (constant|relax\.zeros|relax\.add)\b")
_ATTRIBUTE_GONE = re.compile(r"(?:function|module) attribute (\S+) is gone")
_DIED = re.compile(r"(SIG[A-Z]+) in |killed by signal (\d+)$")
_TRAP = "reference trap: "


def evidence_in_message(oracle: str, symptom: str, message: str) -> Evidence | None:
    """The evidence of a stored failure of schema 1; None where nothing was decided by its words."""
    if symptom == "hang":
        return Hung()
    if symptom == "crash" and (died := _DIED.match(message)):
        return Died(died[1] or signal.Signals(int(died[2])).name)
    if symptom == "not deterministic across processes":
        return AcrossProcesses()
    if symptom.startswith(_TRAP):
        return ReferenceTrap(symptom.removeprefix(_TRAP), of_storage=" bytes at " in message)
    return _of_oracle(oracle, symptom, message) or _of_any(message)


def _of_oracle(oracle: str, symptom: str, message: str) -> Evidence | None:
    if oracle == "dead_code" and message.startswith("without dead functions"):
        return WithoutDead()
    if oracle == "dead_binding" and (dead := _DEAD_BINDING.match(message)):
        return DeadBinding(dead[1])
    if oracle == "type_soundness" and message.startswith("a tensor given to call_tir and the PrimFunc's buffer"):
        return GivenToCallTir()
    if oracle == "attributes" and symptom == "changed signature":
        return ChangedSignature()
    if oracle == "attributes" and (gone := _ATTRIBUTE_GONE.match(message)):
        return AttributeGone(gone[1])
    return None


def _of_any(message: str) -> Evidence | None:
    if "MemoryError" in message:
        return OutOfMemory()
    return NotANumber() if re.search(r"\bis nan\b", message) else None
