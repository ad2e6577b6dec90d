"""Old case folders: what their failures lack is read off their messages, and nothing of newer ones is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.store import read_case, write_case
from oracles.evidence import (
    AcrossProcesses,
    AttributeGone,
    ChangedSignature,
    DeadBinding,
    Evidence,
    GivenToCallTir,
    Hung,
    LeftForVm,
    NotANumber,
    NotReadBack,
    OutOfMemory,
    ReferenceTrap,
    WithoutDead,
)
from tests.corpus.test_store import stored_case

NO_REASON = "script does not parse: no reason is given"

OLD: list[tuple[str, str, str, Evidence | None]] = [
    ("survives", "hang", "no answer within 20 s", Hung()),
    ("survives", "crash", "MemoryError: nothing left", OutOfMemory()),
    ("survives", "crash", "InternalError: Check failed", None),
    ("determinism", "not deterministic across processes", "another process gets something else", AcrossProcesses()),
    ("determinism", "not deterministic", "two applications to one input differ in main", None),
    ("dead_code", "dead code", "without dead functions main in the live part is another", WithoutDead()),
    ("dead_code", "dead code", "a dead PrimFunc changes main in the live part", None),
    ("dead_binding", "dead binding", "a dead relax.zeros changes main in the live part", DeadBinding("relax.zeros")),
    ("type_soundness", "type", "a tensor given to call_tir and the PrimFunc's buffer: dtype", GivenToCallTir()),
    ("type_soundness", "type", "a variable and its value (relax.add): dtype", None),
    ("attributes", "changed signature", "public function is gone", ChangedSignature()),
    ("attributes", "lost attribute", "function attribute num_input is gone", AttributeGone("num_input")),
    ("attributes", "lost attribute", "global info vdevice is gone", None),
    (
        "numeric",
        "reference trap: out-of-bounds",
        "a takes 16 bytes at 4 of s, of 19",
        ReferenceTrap("out-of-bounds", True),
    ),
    ("numeric", "reference trap: out-of-bounds", "main: A[4]", ReferenceTrap("out-of-bounds")),
    ("numeric", "wrong result", "value: output 0[0] is nan, not 2.0 within 0", NotANumber()),
    ("numeric", "wrong result", "value: output 0[0] is 1.0, not nan within 0", None),
]
SINCE_3: list[tuple[str, str, str, Evidence | None]] = [
    ("round_trip", "round-trip", "script does not parse: no such word", NotReadBack("script", "")),
    ("round_trip", "round-trip", f"{NO_REASON} at `_: R.Tuple`", NotReadBack("script", "_: R.Tuple")),
    ("round_trip", "round-trip", "JSON does not load: no such key", NotReadBack("JSON", "")),
    ("round_trip", "round-trip", "script parses to another module: it differs in a.b", None),
    ("survives", "crash", "script does not parse: no such word", None),
    ("executable", "not executable", "relax.add is left for the VM", LeftForVm()),
]
"""What failures of schema 2 do not say either."""


@pytest.mark.parametrize(
    ("schema", "oracle", "symptom", "message", "evidence"),
    [
        *((1, *old) for old in (*OLD, *SINCE_3)),
        *((2, *old) for old in SINCE_3),
        *((2, *old[:3], None) for old in OLD),
        *((3, *old[:3], None) for old in (*OLD, *SINCE_3)),
    ],
)
def test_an_old_case_gets_from_its_message_the_evidence_that_its_schema_had_not(
    tmp_path: Path, schema: int, oracle: str, symptom: str, message: str, evidence: Evidence | None
) -> None:
    given = replace(stored_case(), oracle=oracle, symptom=symptom, message=message, evidence=None)
    write_case(tmp_path / "slug", given, "repro", "readme")
    file = tmp_path / "slug" / "case.json"
    data = json.loads(file.read_text())
    assert data["schema"] == 3 and data["evidence"] is None
    if schema == 1:
        del data["evidence"]
    file.write_text(json.dumps({**data, "schema": schema}))
    again = read_case(tmp_path / "slug")
    assert again.evidence == evidence
    write_case(tmp_path / "slug", again, "repro", "readme")
    assert read_case(tmp_path / "slug").evidence == evidence


@pytest.mark.parametrize("schema", [2, 3])
@pytest.mark.parametrize(
    ("message", "statement"),
    [
        (NO_REASON, ""),
        (f"{NO_REASON} at `_: R.Tuple`", "_: R.Tuple"),
        (f"{NO_REASON} at `if _:\n    _ = `x``", "if _:\n    _ = `x`"),
        ("script does not parse: no such word at `x`", ""),
    ],
)
def test_the_statement_at_which_a_parser_stops_is_read_off_the_message_where_the_evidence_has_no_field_for_it(
    tmp_path: Path, schema: int, message: str, statement: str
) -> None:
    given = replace(
        stored_case(), oracle="round_trip", message=message, evidence=NotReadBack("script", "of the record")
    )
    write_case(tmp_path / "slug", given, "repro", "readme")
    assert read_case(tmp_path / "slug").evidence == given.evidence
    file = tmp_path / "slug" / "case.json"
    data = json.loads(file.read_text())
    del data["evidence"]["statement"]
    file.write_text(json.dumps({**data, "schema": schema}))
    assert read_case(tmp_path / "slug").evidence == NotReadBack("script", statement)
