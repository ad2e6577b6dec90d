"""Case folders: `case.json`, `module.py`, `repro.py`, `README.md`, and `inputs.npz` where inputs are large.

Text, not a seed: seeds go stale when a generator changes. Every schema that was ever written stays readable.
A folder appears whole or not at all. What the files say is decided elsewhere (see `corpus.repro`, `corpus.readme`).
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from corpus import own
from corpus.encoding import Json, UnreadableArgument, decode, encode
from corpus.finding import Expectation
from corpus.migration import evidence_in_message
from corpus.module_text import UnreadableModule, with_imports, without_imports
from corpus.poison_fill import Fill
from generators.case import Case, EntryCall, ModuleText, Origin, PassCall
from oracles import evidence
from oracles.evidence import Evidence

SCHEMA = 2
Outcome: TypeAlias = Literal["fails", "passes"]


class CorruptCase(Exception):
    """A case folder that cannot be read. `path` is the folder or file, `reason` says what is wrong with it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A Case with what is known of it: everything that a case folder says.

    oracle, symptom: what fails, where it fails. expected: (TVM version prefix, outcome), longest prefix wins.
    signature: the slug of the finding, where it came from one. fill: what uninitialised memory holds in its script.
    evidence: what kind of wrong it is.
    """

    case: Case
    title: str
    oracle: str
    symptom: str
    culprit: str
    message: str = ""
    issue: str | None = None
    expected: tuple[tuple[str, Outcome], ...] = ()
    signature: str | None = None
    expectations: tuple[Expectation, ...] = field(default=())
    fill: Fill = Fill()
    evidence: Evidence | None = None

    def outcome_on(self, version: str) -> Outcome | None:
        """What is expected on a TVM version, None when nothing is known of it."""
        known = [(len(prefix), outcome) for prefix, outcome in self.expected if _is_prefix(prefix, version)]
        return max(known)[1] if known else None


def _is_prefix(prefix: str, version: str) -> bool:
    return version == prefix or version.startswith((f"{prefix}.", f"{prefix}+")) or prefix == ""


# --- writing --------------------------------------------------------------------------------------------


def write_case(folder: Path, stored: StoredCase, repro: str, readme: str) -> None:
    """Writes the folder, replacing one that is there. At every moment the folder is whole: old, new or absent."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    files = {
        "case.json": json.dumps(to_json(stored, arrays), indent=1, ensure_ascii=False) + "\n",
        "module.py": with_imports(stored.case.module.script),
        "repro.py": repro,
        "README.md": readme,
    }
    if stored.case.module.json is not None:
        files["module.json"] = stored.case.module.json
    contents = {name: text.encode() for name, text in files.items()}
    if arrays:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        contents["inputs.npz"] = buffer.getvalue()
    mark = own.mark_of(contents)
    _write_folder(folder, contents if mark is None else {**contents, own.MARK: mark})


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that readers see the old content or the new, never a part."""
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


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, content in contents.items():
            (fresh / name).write_bytes(content)
        fresh.chmod(0o755)
        _swap(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, folder: Path) -> None:
    """Renames `fresh` to `folder`; the folder that was there takes the name `fresh`, for its caller to remove."""
    if not folder.exists():
        fresh.rename(folder)
        return
    aside = fresh.with_name(f"{fresh.name}.old")
    folder.rename(aside)
    fresh.rename(folder)
    shutil.rmtree(aside)


def to_json(stored: StoredCase, arrays: dict[str, np.ndarray[Any, Any]]) -> Json:
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
        "origin": {"seed": case.origin.seed, "index": case.origin.index, "file": case.origin.file},
        "expectations": [_expectation_json(expectation, arrays) for expectation in stored.expectations],
        **({"fill": asdict(stored.fill)} if stored.fill != Fill() else {}),
    }


def _pass_json(call: PassCall) -> Json:
    options = {"options": call.options} if call.options else {}
    return {"name": call.name, "source": call.source, **options}


def _expectation_json(expectation: Expectation, arrays: dict[str, np.ndarray[Any, Any]]) -> Json:
    return {
        "call": expectation.call,
        "outputs": [encode(output, arrays) for output in expectation.outputs],
        "tolerances": [encode(tolerance, arrays) for tolerance in expectation.tolerances],
    }


# --- reading --------------------------------------------------------------------------------------------


def read_case(folder: Path) -> StoredCase:
    """Reads a case folder of any schema. CorruptCase when it is unreadable in any way."""
    try:
        data = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise CorruptCase(folder / "case.json", "not an object")
        reader = _READERS.get(data.get("schema"))
        if reader is None:
            raise CorruptCase(folder / "case.json", f"unknown schema {data.get('schema')!r}")
        return reader(folder, data)
    except FileNotFoundError as error:
        raise CorruptCase(folder, f"no {Path(error.filename).name}") from error
    except CorruptCase:
        raise
    except KeyError as error:
        raise CorruptCase(folder / "case.json", f"no entry {error}") from error
    except (OSError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise CorruptCase(folder, f"{type(error).__name__}: {error}") from error


def _read_schema_1(folder: Path, data: Mapping[str, Json]) -> StoredCase:
    arrays = _read_arrays(folder / "inputs.npz")
    case = Case(
        module=_read_module(folder, str(data["module"])),
        passes=_read_passes(data["passes"]),
        calls=tuple(_read_call(call, arrays) for call in data["calls"]),
        target=str(data["target"]),
        setup=_read_passes(data["setup"]),
        origin=Origin(**data["origin"]) if data.get("origin") else Origin(file=str(folder)),
        load=data.get("load"),
    )
    return StoredCase(
        case=case,
        title=str(data["title"]),
        oracle=str(data["oracle"]),
        symptom=str(data["symptom"]),
        culprit=str(data["culprit"]),
        message=str(data.get("message", "")),
        issue=data.get("issue"),
        expected=tuple((str(prefix), _read_outcome(outcome)) for prefix, outcome in data["expected"].items()),
        signature=data.get("signature"),
        expectations=tuple(_read_expectation(entry, arrays) for entry in data.get("expectations", ())),
        fill=Fill(**data.get("fill", {})),
        evidence=evidence_in_message(str(data["oracle"]), str(data["symptom"]), str(data.get("message", ""))),
    )


def _read_schema_2(folder: Path, data: Mapping[str, Json]) -> StoredCase:
    """As schema 1, which had no evidence."""
    return replace(_read_schema_1(folder, data), evidence=evidence.from_json(data["evidence"]))


_READERS: dict[object, Callable[[Path, Mapping[str, Json]], StoredCase]] = {1: _read_schema_1, 2: _read_schema_2}


def _read_module(folder: Path, name: str) -> ModuleText:
    script_file = folder / "module.py"
    try:
        script = without_imports(script_file.read_text(encoding="utf-8"))
    except UnreadableModule as error:
        raise CorruptCase(script_file, str(error)) from error
    if name != "module.json" and "class " not in script:
        raise CorruptCase(script_file, "no module in the file")
    return ModuleText(script, (folder / name).read_text(encoding="utf-8") if name == "module.json" else None)


def _read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _read_passes(entries: Json) -> tuple[PassCall, ...]:
    return tuple(PassCall(str(entry["name"]), str(entry["source"]), str(entry.get("options", ""))) for entry in entries)


def _read_call(entry: Json, arrays: Mapping[str, np.ndarray[Any, Any]]) -> EntryCall:
    return EntryCall(str(entry["function"]), tuple(decode(argument, arrays) for argument in entry["arguments"]))


def _read_expectation(entry: Json, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Expectation:
    outputs = tuple(decode(output, arrays) for output in entry["outputs"])
    tolerances = tuple(decode(tolerance, arrays) for tolerance in entry["tolerances"])
    if not all(isinstance(output, np.ndarray) for output in outputs):
        raise UnreadableArgument("an expected output is not an array")
    return Expectation(int(entry["call"]), outputs, tolerances)  # type: ignore[arg-type]


def _read_outcome(outcome: Json) -> Outcome:
    if outcome not in ("fails", "passes"):
        raise ValueError(f"expected outcome {outcome!r}")
    return outcome  # type: ignore[no-any-return]
