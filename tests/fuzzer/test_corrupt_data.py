"""A fuzz test of what passfuzz reads of others: whatever is wrong with it, only the named errors come out.

The quick tests try 40 inputs of each kind, the deep one 10,000 in all. `--hypothesis-profile long` tries 50,000 of each
kind, others in every run.
"""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.escapes import is_slug, one_line
from corpus.registry import BadRegistry, KnownCause, add_entries, read_registry
from corpus.replayable import Replayable, replayable
from corpus.signature_baseline import read_known, write_known
from corpus.store import CorruptCase, StoredCase, read_case, write_case
from fuzzer.plugin.harvester import KeptModule
from fuzzer.render import show_replay
from fuzzer.results import ReplayResult
from oracles.evidence import DeadBinding
from reports import html, replay_matrix
from reports.formats import FORMATS
from reports.matrix import Column, ReplayRow
from reports.summary import Report, UnreadableOut, read_out, write_out
from reports.terminal import Terminal
from reports.view import show
from tests.corpus.test_store import stored_case
from tests.corruption import SPECIAL, bytes_like, corrupt, npz_like, put
from tests.hostile import examples, texts
from tests.reports.reports_data import finding, known_finding, report

QUICK = 40
DEEP = 2000
"""Inputs of each of the five kinds."""
LONGEST_LINE = 700
"""Characters of a message, with the path of a temporary folder in it."""

Change = Callable[[Path], None]
Read = Callable[[Path], bool]
"""Reads a folder: False where it is refused by name."""


def assert_named(error: Exception, folder: Path) -> None:
    """That an error is one line, which names what cannot be read."""
    said = str(error)
    assert said == one_line(said)
    assert said.startswith(str(folder))
    assert len(said) < LONGEST_LINE


def written(name: str, contents: st.SearchStrategy[bytes]) -> st.SearchStrategy[Change]:
    """A change that writes a file."""
    return contents.map(lambda content: lambda folder: _write(folder / name, content))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def special(*names: str) -> st.SearchStrategy[Change]:
    """A change that puts a folder, a pipe, ... in place of a file."""
    return st.tuples(st.sampled_from(names), st.sampled_from(SPECIAL)).map(
        lambda pair: lambda folder: put(folder / pair[0], pair[1])
    )


def again(change: Change, base: Path, place: Path) -> Path:
    """A fresh copy of a folder with a change."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, place)
    change(place)
    return place


# --- case folders ---------------------------------------------------------------------------------------


def case_folder(folder: Path) -> None:
    """A case with everything in it that a case may have."""
    write_case(folder, replace(stored_case('{"root": 0}'), evidence=DeadBinding("relax.add")), "repro", "readme")


def changes_of_case(base: Path) -> st.SearchStrategy[Change]:
    data = {path.name: path.read_bytes() for path in base.iterdir()}
    return st.one_of(
        written("case.json", corrupt(data["case.json"])),
        written("case.json", corrupt(data["case.json"])),
        written("module.py", st.one_of(bytes_like(data["module.py"]), MODULES, texts.map(_utf8))),
        written("module.json", bytes_like(data["module.json"])),
        written("inputs.npz", npz_like(data["inputs.npz"])),
        special("case.json", "module.py", "module.json", "inputs.npz"),
    )


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_VALUES = (
    b"+".join([b"1"] * 20_000),
    b"(" * 5000,
    b"-" * 50_000 + b"1",
    b"a." * 50_000 + b"a",
    b"[" * 150 + b"]" * 150,
)
_HEADS = (b"import os\nclass A: ", b"\xef\xbb\xbfclass A: ", b"class A: ", b"\x00class A: ")
MODULES = st.tuples(st.sampled_from(_HEADS), st.sampled_from((*_VALUES, b"'\\d'", b"f(" * 90 + b")" * 90, b"1"))).map(
    b"".join
)
"""Modules that are too deep for Python, or that it warns of."""


def read_a_case(folder: Path) -> bool:
    try:
        stored = read_case(folder)
    except CorruptCase as error:
        assert_named(error, folder)
        return False
    assert_typed(stored)
    write_case(folder.with_name("again"), stored, "repro", "readme")
    assert_typed(read_case(folder.with_name("again")))
    return True


def assert_typed(stored: StoredCase) -> None:
    """What the rest of passfuzz takes for granted."""
    case = stored.case
    for text in (stored.title, stored.oracle, stored.symptom, stored.culprit, stored.message, case.target):
        assert isinstance(text, str)
    assert isinstance(case.load, (str, type(None))) and isinstance(stored.issue, (str, type(None)))
    assert stored.signature is None or is_slug(stored.signature)
    assert all(isinstance(part, str) for call in (*case.passes, *case.setup) for part in (call.name, call.source))
    for text in (part for call in (*case.passes, *case.setup) for part in (call.source, call.options) if part):
        compile(text.strip(), "<expression>", "eval", dont_inherit=True)
    assert all(0 <= expectation.call < len(case.calls) for expectation in stored.expectations)


# --- OUT ------------------------------------------------------------------------------------------------


def out_folder(folder: Path) -> None:
    write_out(folder, report(finding(), known_finding("CSE"), finding("DCE", message="other"), own_fault="one"))


def changes_of_summary(base: Path) -> st.SearchStrategy[Change]:
    data = (base / "summary.json").read_bytes()
    return st.one_of(
        st.tuples(written("summary.json", corrupt(data)), st.one_of(st.just(_nothing), st.just(_no_lines))).map(_both),
        special("summary.json", "findings.jsonl"),
    )


def _nothing(folder: Path) -> None:
    """No change."""


def _no_lines(folder: Path) -> None:
    (folder / "findings.jsonl").unlink()


def _both(changes: tuple[Change, Change]) -> Change:
    def change(folder: Path) -> None:
        changes[0](folder)
        changes[1](folder)

    return change


def changes_of_findings(base: Path) -> st.SearchStrategy[Change]:
    lines = (base / "findings.jsonl").read_bytes().splitlines()
    one_wrong = corrupt(lines[1]).map(lambda line: b"\n".join([lines[0], line, lines[2], b""]))
    return st.one_of(
        written("findings.jsonl", one_wrong),
        written("findings.jsonl", bytes_like(b"\n".join([*lines, b""]))),
        special("findings.jsonl"),
    )


def read_an_out(folder: Path) -> bool:
    """Reads it, shows it in every way, writes it and reads it again."""
    read = a_report_of(folder)
    if read is None:
        return False
    for row in FORMATS:
        row.render(read).encode()
    show(read, Terminal(file=io.StringIO(), width=100))
    write_out(folder.with_name("again"), read)
    assert read_out(folder.with_name("again")).to_json() == read.to_json()
    return not read.notes


def read_findings(folder: Path) -> bool:
    """Reads it and shows it in one way; what differs here is in the rows."""
    read = a_report_of(folder)
    return read is not None and bool(html.render(read)) and not read.notes


def a_report_of(folder: Path) -> Report | None:
    try:
        read = read_out(folder)
    except UnreadableOut as error:
        assert_named(error, folder)
        return None
    for note in read.notes:
        assert note == one_line(note) and note.startswith(str(folder))
    json.dumps(read.to_json(), allow_nan=False)
    return read


def test_a_corrupt_line_hides_no_other_finding(tmp_path: Path) -> None:
    out_folder(tmp_path)
    before = {row.culprit for row in read_out(tmp_path).findings}
    lines = (tmp_path / "findings.jsonl").read_bytes().splitlines(keepends=True)
    for wrong in (
        b"\x00\xff\n",
        b"[[[\n",
        b'{"signature": 5}\n',
        b"null\n",
        b"[" * 100_000 + b"\n",
        b'{"signature": "..',
    ):
        (tmp_path / "findings.jsonl").write_bytes(b"".join([lines[0], wrong.rstrip(b"\n") + b"\n", *lines[1:]]))
        read = read_out(tmp_path)
        assert {row.culprit for row in read.findings} == before
        (note,) = read.notes
        assert "1 corrupt finding is left out: line 2: " in note


# --- the others -----------------------------------------------------------------------------------------


def known_folder(folder: Path) -> None:
    write_known(folder / "known.json", {"numeric-FuseOps-00000000": "a note", "b": ""})


def changes_of_known(base: Path) -> st.SearchStrategy[Change]:
    data = (base / "known.json").read_bytes()
    return st.one_of(*(written("known.json", corrupt(data)) for _ in range(4)), special("known.json"))


def read_a_baseline(folder: Path) -> bool:
    try:
        known = read_known(folder / "known.json")
    except CorruptCase as error:
        assert_named(error, folder)
        return False
    except FileNotFoundError:
        assert not (folder / "known.json").exists()
        return False
    assert all(isinstance(slug, str) for slug in known)
    return True


def registry_folder(folder: Path) -> None:
    entries = [KnownCause(f"cause {number}", "A title", "wont-fix", ("b",), seen="2026-11-22") for number in range(3)]
    add_entries(folder / "known.toml", entries)


def changes_of_registry(base: Path) -> st.SearchStrategy[Change]:
    data = (base / "known.toml").read_bytes()
    lines = data.splitlines(keepends=True)
    fields = st.sampled_from(
        [b"title = 3\n", b"also = ['']\n", b"[[cause]]\n", b"[cause]\n", b'note = """\n', b"x = 1\n"]
    )
    places = st.tuples(st.integers(0, len(lines)), fields)
    more = places.map(lambda pair: b"".join([*lines[: pair[0]], pair[1], *lines[pair[0] :]]))
    changes = (written("known.toml", one) for one in (bytes_like(data), more, st.binary(max_size=50)))
    return st.one_of(*changes, special("known.toml"))


def read_the_registry(folder: Path) -> bool:
    try:
        registry = read_registry(folder / "known.toml")
    except BadRegistry as error:
        assert_named(error, folder)
        return False
    except FileNotFoundError:
        assert not (folder / "known.toml").exists()
        return False
    assert all(isinstance(entry.cause, str) and entry.title.strip() for entry in registry.entries)
    assert registry.match("cause 0") in (None, *registry.entries)
    return True


def kept_folder(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    entry = {"pass": "relax.transform.Normalize", "test": "test_a.py::test", "module": '{"root": 0}'}
    (folder / "kept.json").write_text(json.dumps(entry))


def changes_of_kept(base: Path) -> st.SearchStrategy[Change]:
    data = (base / "kept.json").read_bytes()
    names = st.tuples(texts, texts).map(lambda pair: {"pass": pair[0], "test": pair[1], "module": "{}"})
    hostile = names.map(lambda entry: json.dumps(entry).encode())
    return st.one_of(
        *(written("kept.json", corrupt(data)) for _ in range(3)), written("kept.json", hostile), special("kept.json")
    )


def read_a_kept_module(folder: Path) -> bool:
    try:
        kept = KeptModule.read(folder / "kept.json")
    except CorruptCase as error:
        assert_named(error, folder)
        return False
    assert is_slug(kept.folder)
    assert one_line(kept.test) == kept.test
    return True


KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path], st.SearchStrategy[Change]], Read]] = {
    "case": (case_folder, changes_of_case, read_a_case),
    "summary": (out_folder, changes_of_summary, read_an_out),
    "findings": (out_folder, changes_of_findings, read_findings),
    "baseline": (known_folder, changes_of_known, read_a_baseline),
    "registry": (registry_folder, changes_of_registry, read_the_registry),
    "kept": (kept_folder, changes_of_kept, read_a_kept_module),
}
"""How a folder of each kind is made, what may be wrong with it, and who reads it."""


def fuzz(kind: str, folder: Path, number: int) -> Counter[bool]:
    """Tries so many inputs of a kind; how many were read whole and how many were refused."""
    make, changes, read = KINDS[kind]
    base = folder / "base"
    make(base)
    outcomes: Counter[bool] = Counter()

    @examples(number)
    @given(changes(base))
    def only_named_errors(change: Change) -> None:
        outcomes[read(again(change, base, folder / "corrupt"))] += 1

    only_named_errors()
    return outcomes


@pytest.mark.parametrize("kind", KINDS)
def test_corrupt_data_is_named(tmp_path: Path, kind: str) -> None:
    outcomes = fuzz(kind, tmp_path, QUICK)
    assert outcomes[False] >= QUICK // 4


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
def test_much_corrupt_data_is_named(tmp_path: Path, kind: str) -> None:
    """Some of it passfuzz can read: what is wrong does not matter, or is legal."""
    outcomes = fuzz(kind, tmp_path, DEEP)
    assert outcomes.total() >= DEEP
    assert min(outcomes[False], outcomes[True]) >= DEEP // 50


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_corrupt_is_read(tmp_path: Path, kind: str) -> None:
    make, _, read = KINDS[kind]
    make(tmp_path / "x")
    assert read(tmp_path / "x")


@examples(20)
@given(st.data())
def test_a_corrupt_case_never_stops_the_others(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    corpus = tmp_path_factory.mktemp("corpus")
    for name in ("a", "b", "c"):
        case_folder(corpus / name)
    data.draw(changes_of_case(corpus / "b"))(corpus / "b")
    found = list(replayable(corpus))
    assert [one.slug for one in found] == ["a", "b", "c"]
    assert isinstance(found[0].case, StoredCase) and isinstance(found[2].case, StoredCase)
    result = ReplayResult(tuple(_row(one) for one in found), (Column("0.27.0"),))
    show_replay(result, False)
    assert replay_matrix.junit(result.matrix).count("<error ") == 3


def _row(found: Replayable) -> ReplayRow:
    said: Any = found.case.reason if isinstance(found.case, CorruptCase) else ""
    return ReplayRow(found.slug, "0.27.0", "error", said)
