"""The shapes of `case.json`, of every schema that was ever written."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from corpus.migration import evidence_before_schema_3
from corpus.poison_fill import MEANINGS, Fill
from corpus.rate import ReproRate
from generators.case import PassCall
from generators.passes.constructors import expression
from oracles.evidence import Evidence

SCHEMA = 3
ScriptOutcome: TypeAlias = Literal["fails", "passes"]


class PassRecord(msgspec.Struct):
    name: str
    source: str
    options: str = ""

    def call(self) -> PassCall:
        return PassCall(self.name, expression(self.source), expression(self.options))


class CallRecord(msgspec.Struct):
    function: str
    arguments: list[object]


class OriginRecord(msgspec.Struct):
    seed: int | None = None
    index: int | None = None
    file: str | None = None
    captured: bool = False


class ExpectationRecord(msgspec.Struct):
    call: Annotated[int, msgspec.Meta(ge=0)]
    outputs: list[object]
    tolerances: list[object]


class FillRecord(msgspec.Struct):
    byte: int = Fill().byte
    scratch: bool = Fill().scratch

    def fill(self) -> Fill:
        if self.byte not in MEANINGS:
            raise ValueError(f"fill: no byte {self.byte}")
        return Fill(self.byte, self.scratch)


class CaseSchema(msgspec.Struct):
    schema: object = None


class CaseRecord(msgspec.Struct):
    """`case.json` of schema 1, whose failures had no evidence."""

    schema: int
    title: str
    oracle: str
    symptom: str
    culprit: str
    expected: dict[str, ScriptOutcome]
    module: Literal["module.py", "module.json"]
    target: str
    setup: list[PassRecord]
    passes: list[PassRecord]
    calls: list[CallRecord]
    message: str = ""
    issue: str | None = None
    signature: str | None = None
    cause: str | None = None
    blames: str | None = None
    load: str | None = None
    origin: OriginRecord | None = None
    expectations: list[ExpectationRecord] = []
    fill: FillRecord = msgspec.field(default_factory=FillRecord)
    unoptimised: bool = False
    rate: ReproRate | None = None
    by_reference: bool = False
    difference: str | None = None
    fault: tuple[str, ...] | None = None

    def what_is_wrong(self) -> Evidence | None:
        return evidence_before_schema_3(self.schema, self.oracle, self.symptom, self.message)


class CaseRecord2(CaseRecord, kw_only=True):
    """Schemas 2 and 3, which has records of more kinds."""

    evidence: Evidence | None

    def what_is_wrong(self) -> Evidence | None:
        return self.evidence or super().what_is_wrong()


SHAPES: dict[object, type[CaseRecord]] = {1: CaseRecord, 2: CaseRecord2, 3: CaseRecord2}
