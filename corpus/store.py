"""Case folders: `case.json`, `module.py`, `repro.py`, `README.md`, and `inputs.npz` where inputs are large.

Text, not a seed: seeds go stale when a generator changes. Every schema that was ever written stays readable.
A folder appears whole or not at all. What the files say is decided elsewhere (see `corpus.scripts.repro`,
`corpus.readme`).
"""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from corpus import arrays_file, own
from corpus.arrays_file import UnreadableArrays
from corpus.case_record import SCHEMA, SHAPES, CaseRecord, CaseSchema, ExpectationRecord, OriginRecord, ScriptOutcome
from corpus.encoding import UnreadableArgument, decode, encode
from corpus.escapes import is_slug, one_line
from corpus.finding import Expectation
from corpus.migration import symptom_of_today
from corpus.named_errors import naming
from corpus.rate import ReproRate
from corpus.regular_files import MEBIBYTE, NotRegular, read_regular
from corpus.scripts.module_text import UnreadableModule, with_imports, without_imports
from corpus.scripts.poison_fill import Fill
from corpus.scripts.setting import ScriptSetting
from corpus.whole_folder import write_folder
from generators.case import Argument, Case, EntryCall, ModuleText, Origin, PassCall
from generators.dtypes import Array
from generators.json_values import JsonObject
from generators.passes.constructors import LOADED, NotOfTheTable
from generators.targets import TARGETS
from oracles import evidence
from oracles.evidence import Evidence

MOST_TEXT = 64 * MEBIBYTE
"""Bytes of a text file of a case that are read; the largest that passfuzz has written is smaller by far."""
LONGEST_REASON = 300


class CorruptCase(Exception):
    """A case folder that cannot be read. `path` is the folder or file, `reason` says in a line what is wrong."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = one_line(reason)[:LONGEST_REASON]
        super().__init__(f"{one_line(path)}: {self.reason}")


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A Case with what is known of it: everything that a case folder says.

    oracle, symptom: what fails, where it fails. expected: (TVM version prefix, outcome), longest prefix wins.
    signature: the slug of the finding, where it came from one. setting: how its script runs.
    evidence: what kind of wrong it is. cause: as `str(corpus.causes.cause.Cause)`, None where it is not known; blames:
    as that has it, None where it is not known, as in older cases.
    rate: how many runs of its script show it; None where each one does. said: what its script said last when it showed
    it (`corpus.causes.signature.told_by`), "" where that is not known. difference: what the culprit did to the
    functions, as a unified diff; fault: lines on whose fault it is; None where an older passfuzz has written them into
    reports alone.
    """

    case: Case
    title: str
    oracle: str
    symptom: str
    culprit: str
    message: str = ""
    issue: str | None = None
    expected: tuple[tuple[str, ScriptOutcome], ...] = ()
    signature: str | None = None
    expectations: tuple[Expectation, ...] = field(default=())
    setting: ScriptSetting = ScriptSetting()
    evidence: Evidence | None = None
    cause: str | None = None
    blames: str | None = None
    rate: ReproRate | None = None
    said: str = ""
    difference: str | None = None
    fault: tuple[str, ...] | None = None

    def outcome_on(self, version: str) -> ScriptOutcome | None:
        """What is expected on a TVM version, None when nothing is known of it."""
        holds = [p for p, _ in self.expected if not p or re.match(rf"{re.escape(p)}(?:[.+]|$)", version)]
        known = [(len(prefix), outcome) for prefix, outcome in self.expected if prefix in holds]
        return max(known)[1] if known else None


# --- writing --------------------------------------------------------------------------------------------


def contents_of(stored: StoredCase, repro: str, readme: str, issue: str = "") -> dict[str, bytes]:
    """The files of a case folder."""
    arrays: dict[str, Array] = {}
    files = {
        "case.json": record_text(to_json(stored, arrays)),
        "module.py": with_imports(stored.case.module.script),
        "repro.py": repro,
        "README.md": readme,
        **({"issue.md": issue} if issue else {}),
    }
    if stored.case.module.json is not None:
        files["module.json"] = stored.case.module.json
    contents = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    if arrays:
        contents["inputs.npz"] = arrays_file.written(arrays)
    return contents


def record_text(record: JsonObject) -> str:
    """`case.json`, as it is written."""
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def write_contents(folder: Path, contents: Mapping[str, bytes], *, made_here: bool = False) -> None:
    """Writes the folder, replacing one that is there. At every moment the folder is whole: old, new or absent.
    made_here: the caller has made the case itself, so it is trusted (`corpus.own`); of a copy what the original is."""
    mark = own.mark_of(contents) if made_here else None
    with naming(folder):
        write_folder(folder, contents if mark is None else {**contents, own.MARK: mark})


def write_case(
    folder: Path, stored: StoredCase, repro: str, readme: str, issue: str = "", *, made_here: bool = False
) -> None:
    """`write_contents` of `contents_of`."""
    write_contents(folder, contents_of(stored, repro, readme, issue), made_here=made_here)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that readers see the old content or the new, never a part. An OSError names `path`."""
    with naming(path):
        _replace(path, content)


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def to_json(stored: StoredCase, arrays: dict[str, Array]) -> JsonObject:
    """The content of `case.json`; arrays too large to stand inline are added to `arrays`."""
    case = stored.case
    return {
        "schema": SCHEMA,
        "title": stored.title,
        "issue": stored.issue,
        "oracle": stored.oracle,
        "symptom": stored.symptom,
        "culprit": stored.culprit,
        "message": stored.message,
        "evidence": evidence.to_json(stored.evidence),
        "signature": stored.signature,
        "cause": stored.cause,
        **({} if stored.blames is None else {"blames": stored.blames}),
        "expected": dict(stored.expected),
        "module": "module.py" if case.module.json is None else "module.json",
        "target": case.target,
        "load": case.load,
        "setup": [_pass_json(call) for call in case.setup],
        "passes": [_pass_json(call) for call in case.passes],
        "calls": [
            {"function": call.function, "arguments": [encode(argument, arrays) for argument in call.arguments]}
            for call in case.calls
        ],
        "origin": {
            "seed": case.origin.seed,
            "index": case.origin.index,
            "file": case.origin.file,
            **({"captured": True} if case.origin.captured else {}),
        },
        "expectations": [_expectation_json(expectation, arrays) for expectation in stored.expectations],
        **({"fill": asdict(stored.setting.fill)} if stored.setting.fill != Fill() else {}),
        **({"unoptimised": True} if stored.setting.unoptimised else {}),
        **({"goes_on": True} if stored.setting.goes_on else {}),
        **({"rate": msgspec.structs.asdict(stored.rate)} if stored.rate else {}),
        **({"said": stored.said} if stored.said else {}),
        **({"by_reference": True} if stored.setting.by_reference else {}),
        **({} if stored.difference is None else {"difference": stored.difference}),
        **({} if stored.fault is None else {"fault": list(stored.fault)}),
    }


def _pass_json(call: PassCall) -> JsonObject:
    options = {"options": call.options} if call.options else {}
    return {"name": call.name, "source": call.source, **options}


def _expectation_json(expectation: Expectation, arrays: dict[str, Array]) -> JsonObject:
    return {
        "call": expectation.call,
        "outputs": [encode(output, arrays) for output in expectation.outputs],
        "tolerances": [encode(tolerance, arrays) for tolerance in expectation.tolerances],
    }


# --- reading --------------------------------------------------------------------------------------------


_VERSION = re.compile(r"[\w.+-]{0,64}", re.ASCII)
_Shape = TypeVar("_Shape", bound=msgspec.Struct)

UNREADABLE = (OSError, ValueError, TypeError, LookupError, ArithmeticError, EOFError, RuntimeError, MemoryError)
"""What reading what another user wrote may raise, subclasses included: malformed JSON (`msgspec.ValidationError`),
text that is no UTF-8, nesting too deep (RecursionError), large numbers (OverflowError), a cut archive (EOFError)."""


def read_case(folder: Path) -> StoredCase:
    """Reads a case folder of any schema. CorruptCase when it is unreadable in any way.

    Nothing of the case is run. What it takes is bounded by `MOST_TEXT` and `MOST_ARRAYS`.
    """
    try:
        data = read_regular(folder / "case.json", MOST_TEXT)
        schema = _file_of(folder / "case.json", data, CaseSchema).schema
        shape = SHAPES.get(schema) if isinstance(schema, int) else None
        if shape is None:
            raise CorruptCase(folder / "case.json", f"unknown schema {schema!r}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python would print it with a line of the case
            return _stored(folder, _file_of(folder / "case.json", data, shape))
    except FileNotFoundError as error:
        raise CorruptCase(folder, f"no {Path(error.filename).name}") from error
    except CorruptCase:
        raise
    except UNREADABLE as error:
        at_fault = error.filename if isinstance(error, OSError) else None
        raise CorruptCase(folder if at_fault is None else Path(at_fault), why(error)) from error


def why(error: BaseException) -> str:
    """What an exception of `UNREADABLE` says, in words for a line on stderr."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (
        said
        if isinstance(error, (NotRegular, msgspec.MsgspecError, NotOfTheTable, UnreadableArrays))
        else f"{type(error).__name__}: {said}"
    )


def _file_of(path: Path, data: bytes, shape: type[_Shape]) -> _Shape:
    try:
        return msgspec.json.decode(data, type=shape)
    except UNREADABLE as error:
        raise CorruptCase(path, why(error)) from error


def _stored(folder: Path, file: CaseRecord) -> StoredCase:
    stray = None if file.load else next((one for one in (*file.setup, *file.passes) if _is_loaded(one.source)), None)
    if stray is not None:
        raise CorruptCase(folder / "case.json", f"pass {stray.name} is of a loaded file, and `load` names none")
    arrays = arrays_file.read_arrays(folder / "inputs.npz")
    case = Case(
        module=_read_module(folder, file.module),
        passes=tuple(entry.call() for entry in file.passes),
        calls=tuple(EntryCall(call.function, _arguments(call.arguments, arrays)) for call in file.calls),
        target=_target(file.target),
        setup=tuple(entry.call() for entry in file.setup),
        origin=Origin(file=str(folder)) if file.origin is None else _origin(file.origin),
        load=file.load,
    )
    return StoredCase(
        case=case,
        title=file.title,
        oracle=file.oracle,
        symptom=symptom_of_today(file.symptom),
        culprit=file.culprit,
        message=file.message,
        issue=file.issue,
        expected=tuple((_version(prefix), outcome) for prefix, outcome in file.expected.items()),
        signature=_signature(file.signature),
        expectations=tuple(_read_expectation(entry, len(case.calls), arrays) for entry in file.expectations),
        setting=ScriptSetting(file.fill.fill(), file.unoptimised, file.goes_on, file.by_reference),
        evidence=file.what_is_wrong(),
        cause=file.cause,
        blames=file.blames,
        rate=file.rate,
        said=file.said,
        difference=file.difference,
        fault=file.fault,
    )


def _is_loaded(source: str) -> bool:
    """Whether an expression asks the passes of a loaded file."""
    if LOADED not in source:
        return False
    try:
        return any(isinstance(node, ast.Name) and node.id == LOADED for node in ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return False  # said by who constructs the pass


def _origin(file: OriginRecord) -> Origin:
    return Origin(file.seed, file.index, file.file, file.captured)


def _version(prefix: str) -> str:
    if not _VERSION.fullmatch(prefix):
        raise ValueError(f"no version of TVM: {prefix!r}")
    return prefix


def _target(name: str) -> str:
    if name not in TARGETS:
        raise ValueError(f"unknown target {name!r}")
    return name


def _signature(slug: str | None) -> str | None:
    if slug is not None and not is_slug(slug):
        raise ValueError(f"signature that is no name of a folder: {slug!r}")
    return slug


def _read_module(folder: Path, name: str) -> ModuleText:
    script_file = folder / "module.py"
    try:
        script = without_imports(read_regular(script_file, MOST_TEXT).decode())
    except UnreadableModule as error:
        raise CorruptCase(script_file, str(error)) from error
    if name != "module.json" and "class " not in script:
        raise CorruptCase(script_file, "no module in the file")
    return ModuleText(script, read_regular(folder / name, MOST_TEXT).decode() if name == "module.json" else None)


def _arguments(values: list[object], arrays: Mapping[str, Array]) -> tuple[Argument, ...]:
    return tuple(decode(value, arrays) for value in values)


def _read_expectation(entry: ExpectationRecord, calls: int, arrays: Mapping[str, Array]) -> Expectation:
    if entry.call >= calls:
        raise ValueError(f"an expectation of call {entry.call} of {calls}")
    outputs = [one for one in _arguments(entry.outputs, arrays) if isinstance(one, np.ndarray)]
    tolerances = [one for one in _arguments(entry.tolerances, arrays) if isinstance(one, (np.ndarray, int, float))]
    if len(outputs) != len(entry.outputs):
        raise UnreadableArgument("an expected output is not an array")
    if len(tolerances) != len(entry.tolerances):
        raise UnreadableArgument("a tolerance is neither a number nor an array")
    expectation = Expectation(entry.call, tuple(outputs), tuple(tolerances))
    for output, tolerance in zip(outputs, tolerances, strict=True):
        if isinstance(tolerance, np.ndarray) and tolerance.shape != output.shape:
            raise UnreadableArgument(f"tolerances of shape {tolerance.shape} for an output of {output.shape}")
    return expectation
