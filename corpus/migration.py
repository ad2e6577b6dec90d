"""Reads what older cases and lists of findings say in words alone: the one place where such words decide.

Case folders of schemas 1 and 2 stay readable for ever. What their messages say never changes, so neither does this
file. Failures of schema 1 have no evidence, those of schema 2 lack two kinds of it. Of schema 3 a field of the evidence
came later, and so did `difference` and `fault`: what they say stood in the message and in the reports alone.
"""

from __future__ import annotations

import re
import signal
from typing import get_args

from corpus.escapes import fenced_in
from oracles.evidence import (
    AcrossProcesses,
    AttributeGone,
    ChangedSignature,
    DeadBinding,
    Died,
    Evidence,
    GivenToCallTir,
    Hung,
    LeftForVm,
    NotANumber,
    NotReadBack,
    OutOfMemory,
    ReferenceTrap,
    TrapKind,
    WithoutDead,
)
from oracles.verdict import DOES_NOT_BUILD

_DEAD_BINDING = re.compile(r"a dead (constant|relax\.zeros|relax\.add)\b")
_ATTRIBUTE_GONE = re.compile(r"(?:function|module) attribute (\S+) is gone")
_NO_REASON = re.compile(r"script does not parse: no reason is given at `(.*)`", re.DOTALL)
_DIED = re.compile(r"(SIG[A-Z]+) in |killed by signal (\d+)$")
_TRAPS: dict[str, TrapKind] = {f"reference trap: {kind}": kind for kind in get_args(TrapKind)}


_SYMPTOMS = {"build failed": DOES_NOT_BUILD}


def symptom_of_today(symptom: str) -> str:
    """The symptom of a stored case in today's word."""
    return _SYMPTOMS.get(symptom, symptom)


def evidence_before_schema_3(schema: int, oracle: str, symptom: str, message: str) -> Evidence | None:
    """The evidence of a stored failure without any, of which its schema had no record; None where there is none."""
    if schema > 2:
        return None
    found = _of_schemas_1_and_2(oracle, symptom, message)
    return _of_schema_1(oracle, symptom, message) if found is None and schema == 1 else found


def evidence_before_fields(evidence: Evidence | None, message: str) -> Evidence | None:
    """The evidence of a stored failure with what its records had no field for when it was written."""
    if not isinstance(evidence, NotReadBack) or evidence.statement is not None:
        return evidence
    quoted = _NO_REASON.fullmatch(message)
    return NotReadBack(evidence.form, quoted[1] if quoted else "")


def evidence_before_rows_had_it(symptom: str, died: object) -> Evidence | None:
    """The evidence of a line of `findings.jsonl` without any, as far as severities depend on it. died: what it said
    instead, the signal by which the process ended or its exit status."""
    if isinstance(died, str) and died:
        return Died(died)
    return ReferenceTrap(_TRAPS[symptom]) if symptom in _TRAPS else None


def _of_schemas_1_and_2(oracle: str, symptom: str, message: str) -> Evidence | None:
    if oracle == "executable" and symptom == "not executable":
        return LeftForVm()
    if oracle == "round_trip" and message.startswith("script does not parse: "):
        return NotReadBack("script")
    if oracle == "round_trip" and message.startswith("JSON does not load: "):
        return NotReadBack("JSON")
    return None


def _of_schema_1(oracle: str, symptom: str, message: str) -> Evidence | None:
    if symptom == "hang":
        return Hung()
    if symptom == "crash" and (died := _DIED.match(message)):
        return Died(died[1] or signal.Signals(int(died[2])).name)
    if symptom == "not deterministic across processes":
        return AcrossProcesses()
    if symptom in _TRAPS:
        return ReferenceTrap(_TRAPS[symptom], of_storage=" bytes at " in message)
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


# --- reports --------------------------------------------------------------------------------------------

_FAULT = re.compile(r"^## Whose fault\n\n((?:- .*\n)+)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([\\`*{}\[\]|~$^_+=#.)-])")
_ENTITY = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&#8203;": ""}
_ENTITIES = re.compile("|".join(map(re.escape, _ENTITY)))


def difference_before_fields(readme: str, issue: str) -> str:
    """What the culprit did to the functions, as a unified diff, of a case folder whose `case.json` does not say it."""
    return fenced_in(readme, "diff") or fenced_in(issue, "diff")


def fault_before_fields(readme: str) -> tuple[str, ...]:
    """The lines of the README.md of such a folder on whose fault it is."""
    fault = _FAULT.search(readme)
    return tuple(_plain(line[2:]) for line in fault[1].splitlines()) if fault else ()


def _plain(line: str) -> str:
    """What a line of Markdown of ours says (`corpus.escapes.Markdown`)."""
    return _ENTITIES.sub(lambda match: _ENTITY[match[0]], _ESCAPED.sub(r"\1", line))
