"""The shapes of `case.json`, of every schema that was ever written. Whoever writes a case by hand writes SCHEMA.

`msgspec` reads them: a field of another type, a missing one or a bad value raises its ValidationError, of which
`corpus.store.read_case` makes a CorruptCase with the file and the place. Fields that no record names are ignored.
"JSON of an argument" is what `corpus.encoding.encode` writes; its `decode` raises UnreadableArgument for other forms:

    {"dtype": D, "extents": [2, 3], "values": [...]}    an array, row by row; D is TVM's name, such as "bfloat16"
    {"dtype": D, "extents": [2, 3], "npz": "a0"}        the same, in `inputs.npz` beside; ml_dtypes as unsigned bits
    {"shape": [2, 3]}, {"scalar": 1.5}, {"tuple": [...]}    a shape value, a number, a nested tuple

NaN and infinities are the strings "nan", "inf" and "-inf".
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from corpus.migration import evidence_before_fields, evidence_before_schema_3
from corpus.rate import ReproRate
from corpus.scripts.poison_fill import MEANINGS, Fill
from generators.case import PassCall
from generators.passes.constructors import expression
from oracles.evidence import Evidence

SCHEMA = 3
ScriptOutcome: TypeAlias = Literal["fails", "passes"]


class PassRecord(msgspec.Struct):
    """One application of a pass.

    name: of its row, or of the entry of PASSES in the `--load` file. source: the Python expression that constructs it,
    over tvm, relax, dpl and np. options: the `config` of the PassContext around it, a dict as Python text; "" for none.
    """

    name: str
    source: str
    options: str = ""

    def call(self) -> PassCall:
        """The application. Raises NotOfTheTable where a text is neither empty nor one expression of Python."""
        return PassCall(self.name, expression(self.source), expression(self.options))


class CallRecord(msgspec.Struct):
    """A call of a public Relax function with exact inputs.

    arguments: the JSON of an argument for each parameter, in order, with the declared dtype and concrete extents.
    """

    function: str
    arguments: list[object]


class OriginRecord(msgspec.Struct):
    """Where the case came from: a campaign's seed and the index of the case (from 0), or a file; null for unknown.

    captured: a command of the user gave the module to the passes, at whatever phase it was.
    """

    seed: int | None = None
    index: int | None = None
    file: str | None = None
    captured: bool = False


class ExpectationRecord(msgspec.Struct):
    """What a correct compilation returns for an entry call.

    call: its place in `calls`, from 0. outputs: the JSON of one array for each leaf of the result, as in
    `corpus.finding.Expectation`. tolerances: for each output the largest absolute difference of an element from it, as
    {"scalar": ...} for all elements or as an array of the output's shape. `read_case` refuses a call that is not there,
    and another number or shape of tolerances.
    """

    call: Annotated[int, msgspec.Meta(ge=0)]
    outputs: list[object]
    tolerances: list[object]


class FillRecord(msgspec.Struct):
    """The byte that memory from the allocator holds before it is written, while the script runs.

    byte: 0 to 255, a key of `corpus.scripts.poison_fill.MEANINGS`. scratch: what PrimFuncs allocate holds it too.
    """

    byte: int = Fill().byte
    scratch: bool = Fill().scratch

    def fill(self) -> Fill:
        """The same as a value. Raises ValueError for another byte."""
        if self.byte not in MEANINGS:
            raise ValueError(f"fill: no byte {self.byte}")
        return Fill(self.byte, self.scratch)


class CaseSchema(msgspec.Struct):
    """All that is read first: `schema` is a key of SHAPES. Anything else is an unknown schema."""

    schema: object = None


class CaseRecord(msgspec.Struct):
    """`case.json` of schema 1, whose failures have no evidence.

    title: one line, what is wrong. oracle, symptom, culprit, message: the failure as its verdict has it
    (`oracles.verdict.Failed`). expected: how `repro.py` ends by version of TVM, a prefix such as "0.27" or "" for all;
    the longest that fits counts. module: the file beside that holds the IRModule, TVMScript or TVM's own JSON.
    target: a row of `generators.targets.TARGETS`. setup: passes that are applied first and are not under test.
    issue: the address or number of TVM's issue. signature: the folder's name as a slug of `corpus.causes.signature`.
    cause: as `corpus.causes.cause.Cause` prints it. load: the path of a file that brings further passes; reading the
    case does not run it. unoptimised: the script builds without LLVM's optimisation. goes_on: it builds by the rest of
    the pipeline. rate: how many runs of the script show the failure; null where each does. said: what the script said
    last when it showed it (`corpus.causes.signature.told_by`). by_reference: TVM does not build or run what the passes
    give.
    """

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
    goes_on: bool = False
    rate: ReproRate | None = None
    said: str = ""
    by_reference: bool = False
    difference: str | None = None
    fault: tuple[str, ...] | None = None

    def what_is_wrong(self) -> Evidence | None:
        """The evidence, read off the message as far as it tells."""
        evidence = evidence_before_schema_3(self.schema, self.oracle, self.symptom, self.message)
        return evidence_before_fields(evidence, self.message)


class CaseRecord2(CaseRecord, kw_only=True):
    """Schemas 2 and 3. evidence: a tagged record of `oracles.evidence`, or null; schema 3 has more kinds of them, and
    more fields in one kind that was written later."""

    evidence: Evidence | None

    def what_is_wrong(self) -> Evidence | None:
        """The evidence; read off the message where there was no kind or no field for it."""
        return evidence_before_fields(self.evidence, self.message) or super().what_is_wrong()


SHAPES: dict[object, type[CaseRecord]] = {1: CaseRecord, 2: CaseRecord2, 3: CaseRecord2}
"""By schema."""
