"""`report --merge`: strangers' folders are merged without following a link, and nothing counts twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.finding_row import FindingRow
from reports.merge import NoMerge, read_outs, write_merged
from reports.summary import Report, RunEnd, RunFacts, UnreadableOut, read_out, unconfirmed_in, write_out
from reports.words import beside_line
from tests.reports.reports_data import facts, tally

SLUG = "numeric-FuseOps-00000000"
FACTS = facts()


def row(slug: str = SLUG, bindings: int = 3) -> FindingRow:
    folder = f"findings/{slug}"
    return FindingRow(
        *(slug, "numeric", "FuseOps", "wrong result", "value"),
        case=folder,
        repro=f"{folder}/repro.py",
        reduced={"bindings": bindings},
    )


def run(folder: Path, *rows: FindingRow, facts: RunFacts = FACTS) -> Path:
    """An OUT with a folder for each finding, whose files hold the name of OUT."""
    write_out(folder, Report(replace(facts, ended="done"), tally(), rows))
    for one in rows:
        (folder / one.case).mkdir(parents=True)
        for name in ("repro.py", "case.json"):
            (folder / one.case / name).write_text(folder.name)
    return folder


def state(folder: Path) -> dict[str, bytes | None]:
    """Every path in a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_repeating_a_merge_counts_nothing_again(tmp_path: Path) -> None:
    outs = [run(tmp_path / "a", row(), facts=facts(shard="1/2")), run(tmp_path / "b", facts=facts(shard="2/2"))]
    states = []
    for _ in range(3):
        assert write_merged(outs, tmp_path / "all").tally.cases == 196
        states.append(state(tmp_path / "all"))
    assert states[0] == states[1] == states[2]


def _source(outs: list[Path]) -> Path:
    return outs[0]


def _other_spelling(outs: list[Path]) -> Path:
    return outs[0] / ".." / outs[0].name


def _link(outs: list[Path]) -> Path:
    link = outs[0].with_name("link")
    link.symlink_to(outs[0])
    return link


def _inside(outs: list[Path]) -> Path:
    return outs[1] / "findings" / "all"


def _another_run(outs: list[Path]) -> Path:
    return run(outs[0].with_name("third"), row())


def _findings_alone(outs: list[Path]) -> Path:
    folder = run(outs[0].with_name("third"), row())
    (folder / "summary.json").unlink()
    return folder


def _corrupt(outs: list[Path]) -> Path:
    folder = outs[0].with_name("third")
    folder.mkdir()
    (folder / "summary.json").write_text("[")
    return folder


@pytest.mark.parametrize(
    "into",
    [_source, _other_spelling, _link, _inside, _another_run, _findings_alone, _corrupt],
    ids=lambda f: f.__name__,
)
def test_a_merge_is_refused_before_anything_is_written(tmp_path: Path, into: Callable[[list[Path]], Path]) -> None:
    outs = [run(tmp_path / "a", row()), run(tmp_path / "b")]
    target = into(outs)
    before = state(tmp_path)
    for _ in range(2):
        with pytest.raises((NoMerge, UnreadableOut)):
            write_merged(outs, target)
        assert state(tmp_path) == before


@pytest.mark.parametrize("again", [_source, _other_spelling, _link], ids=lambda f: f.__name__)
def test_a_run_given_twice_is_refused(tmp_path: Path, again: Callable[[list[Path]], Path]) -> None:
    outs = [run(tmp_path / "a", row())]
    twice = [*outs, again(outs)]
    with pytest.raises(NoMerge, match="twice"):
        read_outs(twice)
    with pytest.raises(NoMerge, match="twice"):
        write_merged(twice, tmp_path / "all")
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_folder_of_a_finding_is_from_the_run_whose_row_is_shown(tmp_path: Path, order: tuple[int, int]) -> None:
    outs = [run(tmp_path / "small", row(bindings=1)), run(tmp_path / "large", row(bindings=5))]
    merged = write_merged([outs[index] for index in order], tmp_path / "all")
    assert [one.reduced["bindings"] for one in merged.findings] == [1]
    assert (tmp_path / "all" / merged.findings[0].repro).read_text() == "small"
    assert (tmp_path / "all" / merged.findings[0].case / "case.json").read_text() == "small"


def test_only_folders_that_a_row_names_are_merged(tmp_path: Path) -> None:
    out = run(tmp_path / "a", row())
    (out / "findings" / "of-an-earlier-run").mkdir()
    write_merged([out, run(tmp_path / "b")], tmp_path / "all")
    assert os.listdir(tmp_path / "all" / "findings") == [SLUG]


def test_what_an_earlier_merge_left_is_gone(tmp_path: Path) -> None:
    into = tmp_path / "all"
    write_merged([run(tmp_path / "a", row()), run(tmp_path / "b")], into)
    write_merged([run(tmp_path / "c"), run(tmp_path / "d")], into)
    assert sorted(os.listdir(into)) == ["findings.jsonl", "summary.json"]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "key").write_text("SECRET")
    return folder


def _file_link(folder: Path, secret: Path) -> None:
    (folder / "repro.py").unlink()
    (folder / "repro.py").symlink_to(secret / "key")


def _folder_link_inside(folder: Path, secret: Path) -> None:
    (folder / "more").symlink_to(secret)


def _folder_link(folder: Path, secret: Path) -> None:
    folder.rename(folder.parent.parent / "elsewhere")
    folder.symlink_to(secret)


def _findings_link(folder: Path, secret: Path) -> None:
    folder.parent.rename(folder.parent.parent / "elsewhere")
    (secret / folder.name).mkdir()
    (secret / folder.name / "key").write_text("SECRET")
    folder.parent.symlink_to(secret)


def _pipe(folder: Path, secret: Path) -> None:
    os.mkfifo(folder / "pipe")


@pytest.mark.parametrize(
    "plant", [_file_link, _folder_link_inside, _folder_link, _findings_link, _pipe], ids=lambda f: f.__name__
)
def test_a_merge_follows_no_link_and_says_so(tmp_path: Path, secret: Path, plant: Callable[[Path, Path], None]) -> None:
    out = run(tmp_path / "a", row())
    plant(out / "findings" / SLUG, secret)
    merged = write_merged([out, run(tmp_path / "b")], tmp_path / "all")
    held = state(tmp_path / "all")
    assert not [name for name, content in held.items() if content is not None and b"SECRET" in content]
    assert not [path for path in (tmp_path / "all").rglob("*") if path.is_symlink()]
    assert any(str(out) in note for note in merged.notes)


@pytest.mark.parametrize("signature", ["../../b", "/etc", "a/b", "..", "", "nul", "x\x00y", "a" * 300, "con.txt"])
def test_a_signature_that_is_no_name_is_left_out(tmp_path: Path, signature: str) -> None:
    out = run(tmp_path / "a", row())
    with (out / "findings.jsonl").open("a") as file:
        file.write(json.dumps({**row().to_json(), "signature": signature}) + "\n")
    merged = write_merged([out, run(tmp_path / "b")], tmp_path / "all")
    assert [one.signature for one in merged.findings] == [SLUG]
    assert any("line 2" in note for note in merged.notes)
    assert os.listdir(tmp_path / "all" / "findings") == [SLUG]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (facts(seed=7, shard="1/1"), "count twice"),
        (facts(seed=8, shard="1/1"), "different seeds"),
        (facts(seed=7, shard="2/2"), None),
    ],
)
def test_runs_that_hardly_belong_together_are_named(tmp_path: Path, other: RunFacts, says: str | None) -> None:
    outs = [run(tmp_path / "a"), run(tmp_path / "b", facts=other)]
    for notes in (read_outs(outs).notes, write_merged(outs, tmp_path / "all").notes):
        assert [says is not None and says in note for note in notes] == ([True] if says else [])


ENDS: list[tuple[tuple[Any, ...], RunEnd | None]] = [
    (("done", "done"), "done"),
    (("done", None), None),
    (("done", "interrupted"), "interrupted"),
    (("fault", "interrupted"), "fault"),
    (("unknown", "done"), "unknown"),
]


@pytest.mark.parametrize(("ends", "merged"), ENDS)
def test_a_merge_ended_as_the_run_that_did_worst(tmp_path: Path, ends: tuple[Any, ...], merged: RunEnd | None) -> None:
    outs = [tmp_path / "a", tmp_path / "b"]
    for number, (out, ended) in enumerate(zip(outs, ends, strict=True), 1):
        write_out(out, Report(replace(facts(shard=f"{number}/2"), ended=ended), tally(), ()))
    assert write_merged(outs, tmp_path / "all").facts.ended == merged
    assert read_out(tmp_path / "all").facts.ended == merged


def _beside(out: Path, name: str) -> None:
    """What a run has seen beside its findings."""
    (out / "unreduced.jsonl").write_text('{"index": 1, "oracle": "numeric"}\n')
    (out / "unconfirmed" / "findings" / name).mkdir(parents=True)
    (out / "unconfirmed" / "findings" / name / "repro.py").write_text(out.name)
    (out / "unconfirmed" / "failures.jsonl").write_text('{"index": 2}\n{"index": 3}\n')


def test_what_was_seen_beside_the_findings_is_merged_with_the_folder_of_its_run(tmp_path: Path) -> None:
    seen = replace(FACTS, unreduced=1, unconfirmed=3)
    outs = [run(tmp_path / name, row(), facts=seen) for name in ("a", "b")]
    for out in outs:
        _beside(out, SLUG)
    into = tmp_path / "all"
    for _ in range(2):
        merged = write_merged(outs, into)
        assert (merged.facts.unreduced, merged.facts.unconfirmed) == (2, 6)
        rows = [json.loads(line) for line in (into / "unreduced.jsonl").read_text().splitlines()]
        assert [(one["index"], one["out"]) for one in rows] == [(1, str(out)) for out in outs]
        assert len((into / "unconfirmed" / "failures.jsonl").read_text().splitlines()) == 4
        scripts = sorted(path.read_text() for path in into.glob("unconfirmed/findings/*/repro.py"))
        assert scripts == ["a", "b"]
    assert unconfirmed_in(into) == 6
    assert "6 failures that were seen have not shown again: see unconfirmed." in beside_line(merged.facts)
    write_merged([run(tmp_path / "c")], into)
    assert not (into / "unreduced.jsonl").exists() and not (into / "unconfirmed").exists()


def test_a_line_of_any_depth_is_merged_or_named(tmp_path: Path) -> None:
    """What can be read, just so, may be too deep to be written."""
    depths = range(900, 1000)
    out, other = run(tmp_path / "a"), run(tmp_path / "b")
    lines = (f'{{"index": {depth}, "x": {"[" * depth}{"]" * depth}}}\n' for depth in depths)
    (out / "unreduced.jsonl").write_text("".join(lines))
    (other / "unreduced.jsonl").write_text('{"index": 1}\n')
    merged = write_merged([out, other], tmp_path / "all")
    kept = (tmp_path / "all" / "unreduced.jsonl").read_text().splitlines()
    assert json.loads(kept[-1])["index"] == 1
    assert (len(kept) == len(depths) + 1) != any("unreduced.jsonl, line " in note for note in merged.notes)


def test_what_is_no_object_beside_the_findings_is_named_and_links_are_not_followed(
    tmp_path: Path, secret: Path
) -> None:
    out, other = run(tmp_path / "a"), run(tmp_path / "b")
    (out / "unreduced.jsonl").write_text("[1]\n")
    (secret / "failures.jsonl").write_text('{"SECRET": 1}\n')
    (other / "unconfirmed").symlink_to(secret)
    third = run(tmp_path / "c")
    (third / "unconfirmed").mkdir()
    (third / "unconfirmed" / "findings").symlink_to(secret)
    assert unconfirmed_in(third) == 0
    merged = write_merged([out, other, third], tmp_path / "all")
    assert any("unreduced.jsonl, line 1: " in note for note in merged.notes)
    assert not (tmp_path / "all" / "unreduced.jsonl").exists()
    assert not [path for path in (tmp_path / "all").rglob("*") if path.is_file() and b"SECRET" in path.read_bytes()]
