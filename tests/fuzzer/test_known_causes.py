"""What a run counts as known: registries, baselines of older versions, cases; and what that makes of findings."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import inf
from pathlib import Path

import pytest

from corpus.causes.cause import cause_of
from corpus.finding import Finding
from corpus.registry import SHIPPED, KnownCause, Registry, Status, add_entries
from corpus.signature_baseline import write_known
from fuzzer.campaign import aside
from fuzzer.campaign.aside import steps_aside
from fuzzer.campaign.docket import Docket
from fuzzer.campaign.finding_rows import FindingRows
from fuzzer.commands.listing import list_causes
from fuzzer.errors import UsageError
from fuzzer.given_paths import known_file, registry_file
from fuzzer.known_causes import Known, read_known_causes
from fuzzer.processes.workforce import Slot
from fuzzer.protocol import Failure
from generators.case import Tier
from oracles.verdict import Failed
from reports.finding_row import NO_CULPRIT, row_of
from tests.corpus.stored_cases import found, put_case
from tests.corpus.test_throw_site import frame
from tests.reports.reports_data import finding

TVM = "0.28.0"
QUOTE = "The number of parameters should be the same"


def known(*entries: KnownCause, tvm: str = TVM) -> Known:
    return Known(tvm, Registry(entries, Path("known.toml")))


@pytest.mark.parametrize(
    ("status", "fixed_in", "standing", "is_known"),
    [
        ("open", "", "known", True),
        ("wont-fix", "", "known", True),
        ("limitation", "", "limitation", True),
        ("fixed-in", "0.28.0", "returned", False),
        ("fixed-in", "0.29.0", "known", True),
    ],
)
def test_the_status_says_what_a_finding_is(status: Status, fixed_in: str, standing: str, is_known: bool) -> None:
    entry = KnownCause("a", "A title", status, fixed_in=fixed_in, link="apache/tvm#1", tier="C")
    row = known(entry).told(row_of(found("a", tier="B")))
    assert (row.standing, row.known, row.title, row.link, row.tier) == (
        standing,
        is_known,
        "A title",
        "apache/tvm#1",
        "B",
    )


def test_the_tier_is_that_of_the_cause() -> None:
    assert known(KnownCause("a", "A", tier="A")).told(row_of(found("a", tier="C"))).tier == "A"


def test_another_cause_is_new_and_a_limit_is_told_by_what_tvm_prints() -> None:
    one = known(KnownCause("a", "A"), KnownCause("", "L", "limitation", quote=QUOTE))
    row = row_of(found("b"))
    assert one.told(row).standing == "new"
    assert one.told(row, f"Traceback\n  InternalError: {QUOTE} for all").standing == "limitation"
    assert one.told(replace(row, message=QUOTE)).standing == "limitation"


def test_two_entries_that_match_are_told() -> None:
    one = known(KnownCause("a", "A", line=3), KnownCause("b", "B", also=("a",), line=9))
    row = row_of(found("a"))
    assert one.told(row).title == "A"
    assert one.doubt(row) == f"known.toml: lines 3 and 9 both match {row.signature}; the first counts"
    assert one.doubt(row_of(found("b"))) == ""


# --- files ----------------------------------------------------------------------------------------------


def test_the_shipped_registry_is_the_default_and_none_is_none(tmp_path: Path) -> None:
    assert known_file(None) == SHIPPED
    assert known_file(Path("none")) is None
    assert read_known_causes(None, TVM) == Known(TVM)
    assert len(read_known_causes(SHIPPED, TVM).registry.entries) >= 3
    with pytest.raises(UsageError, match="--known none: there must be a registry"):
        registry_file(Path("none"))


def test_an_older_baseline_knows_signatures(tmp_path: Path) -> None:
    row = row_of(found("a"))
    write_known(tmp_path / "known.json", {row.signature: "apache/tvm#1"})
    old = read_known_causes(tmp_path / "known.json", TVM)
    assert (old.told(row).standing, old.told(row).known) == ("known", True)
    assert old.told(row_of(found("a", "CSE"))).standing == "new"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "known.toml: no `schema = 1`"),
        ("schema = 1\n[[cause]]\n", "known.toml, line 2: .*title"),
        ("{}", "known.toml: not a baseline"),
    ],
)
def test_a_bad_file_is_named_with_its_reason(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "known.toml").write_text(text)
    with pytest.raises(UsageError, match=f"^--known .*{reason}"):
        read_known_causes(tmp_path / "known.toml", TVM)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--passfuzz-known .*x: no such file"):
        read_known_causes(tmp_path / "x", TVM, option="--passfuzz-known")
    with pytest.raises(UsageError, match=f"--known {tmp_path}: is a folder; a file is wanted"):
        read_known_causes(tmp_path, TVM)


def test_cases_of_the_corpus_are_known_by_cause_else_by_signature(tmp_path: Path) -> None:
    put_case(tmp_path / "with", "a")
    put_case(tmp_path / "without", None)
    add_entries(tmp_path / "known.toml", [KnownCause("b", "B", "wont-fix")])
    one = read_known_causes(tmp_path / "known.toml", TVM, tmp_path)
    told = {cause: one.told(row_of(found(cause, message=text))).standing for cause, text in (("a", "y"), ("b", "z"))}
    assert told == {"a": "known", "b": "known"}
    assert one.told(row_of(found("c"))).standing == "known"  # the signature of both cases, one of which has no cause
    assert one.told(row_of(found("c", "CSE"))).standing == "new"


# --- in a campaign --------------------------------------------------------------------------------------


def failure(culprit: str, message: str = "it crashed", index: int = 0) -> Failure:
    return Failure(index, "survives", "crash", message, "", culprit, "B")


def cause(culprit: str) -> str:
    return str(cause_of("survives", Failed("crash", "it crashed"), culprit))


def test_what_looks_known_is_reduced_after_what_looks_new() -> None:
    one = known(
        KnownCause(cause("CSE"), "A"),
        KnownCause("", "L", "limitation", quote=QUOTE),
        KnownCause(cause("Gradient"), "G", "fixed-in", fixed_in="0.27"),
    )
    docket = Docket(looks_known=one.looks_known)
    for number, each in enumerate(
        (failure("CSE"), failure("Fuse", QUOTE), failure("FuseOps"), failure("Gradient"), failure("CSE", "other"))
    ):
        docket.sighted(each, float(number))
    order = [docket.take()[1].failure for _ in range(5)]
    assert [(one.culprit, one.message) for one in order] == [
        ("FuseOps", "it crashed"),
        ("Gradient", "it crashed"),  # has returned, which is red
        ("CSE", "other"),
        ("CSE", "it crashed"),
        ("Fuse", QUOTE),
    ]


def test_a_finding_of_a_known_cause_is_confirmed_after_what_looks_new() -> None:
    docket = Docket(looks_known=lambda failure: False)
    for culprit in ("CSE", "FuseOps", "Gradient"):
        docket.sighted(failure(culprit), 0.0)
    first, second = docket.take()[0], docket.take()[0]
    docket.reduced(first, b"finding", "known", found="new", known=True)
    docket.reduced(second, b"finding", "new", found="new")
    order = [docket.take()[1].failure.culprit for _ in range(3)]
    assert order == ["FuseOps", "Gradient", "CSE"]


def test_what_looks_known_takes_little_time_from_the_cases() -> None:
    docket = Docket(looks_known=lambda failure: failure.culprit == "CSE")
    docket.sighted(failure("CSE"), 0.0)
    assert docket.waits and not docket.waits_new
    assert steps_aside(Slot(), docket, 30.0)
    assert steps_aside(Slot(aside_s=10.0, known_s=2.0), docket, 30.0)
    assert not steps_aside(Slot(aside_s=10.0, known_s=4.0), docket, 30.0)
    docket.sighted(failure("FuseOps"), 1.0)
    assert docket.waits_new
    assert steps_aside(Slot(aside_s=10.0, known_s=4.0), docket, 30.0)
    assert not steps_aside(Slot(aside_s=21.0), docket, 30.0)


def test_failures_of_two_causes_have_two_places() -> None:
    """As far as the causes are certain before a reduction."""
    docket = Docket()
    docket.sighted(failure("CSE", "Check failed: (a) is false"), 0.0)
    docket.sighted(failure("CSE", "Check failed: (b) is false"), 1.0)
    assert len(docket.places) == 2


def test_no_finding_hides_another_cause_with_its_signature() -> None:
    rows = FindingRows(known())
    first, second = found("a"), found("b")
    assert first.signature == second.signature
    assert rows.apart(first) == first
    rows.told(first)
    apart = rows.apart(second)
    assert apart.signature.slug != first.signature.slug
    assert apart == replace(second, signature=apart.signature)
    assert rows.apart(second) == apart and rows.apart(first) == first
    assert rows.apart(found(None)) == found(None)


def test_the_issue_of_a_finding_names_what_is_near_to_it() -> None:
    """The same cause, then the same function that throws, then the same pass; each time what is known first."""
    thrown = frame("/project/src/relax/op/op.cc", "tvm::relax::Infer(tvm::Call)")
    one = known(
        KnownCause("x", "Same pass", passes=("CSE", "FuseOps"), root="src/relax/op/op.cc:relax::Other"),
        KnownCause("y", "Far", passes=("Gradient",), link="apache/tvm#1", root="op.cc"),
        KnownCause("z", "Same function", root="src/relax/op/op.cc:Infer"),
        KnownCause("a", "Same cause", "fixed-in", fixed_in="0.29", link="apache/tvm#7"),
    )
    rows = FindingRows(one)
    rows.told(found("b", "Gradient"))
    rows.told(thrown_in(found("c", "CallTIR"), thrown))
    rows.told(found("a", "DCE"))
    new = thrown_in(found("a"), thrown)
    assert rows.similar(new) == (
        ("Same cause", "https://github.com/apache/tvm/issues/7"),
        ("Same cause", found("a", "DCE").folder),
        ("Same function", "src/relax/op/op.cc:Infer"),
        ("CallTIR: ill-formed: Var x is not defined", found("c", "CallTIR").folder),
        ("Same pass", "src/relax/op/op.cc:relax::Other"),
    )
    rows.told(new)
    assert len(rows.similar(new)) == 5
    assert FindingRows(known()).similar(new) == ()
    rows.told(found("d", "FuseOps", "another message"))
    assert [title for title, _ in rows.similar(found("q"))] == ["Same pass", "FuseOps: ill-formed: another message"]
    assert rows.similar(found("q", NO_CULPRIT)) == ()


def thrown_in(finding: Finding, detail: str) -> Finding:
    return replace(finding, verdict=replace(finding.verdict, detail=detail))


def test_a_better_tier_of_a_later_sighting_counts() -> None:
    rows = FindingRows(known())
    slug = found("a").signature.slug
    rows.seen_in(slug, "B")
    assert rows.told(found("a", tier="C")).tier == "B"
    rows.seen_in(slug, "A")
    rows.seen_in(slug, "C")
    rows.seen_again(slug)
    assert (rows.by_signature[slug].tier, rows.by_signature[slug].count) == ("A", 2)


def test_what_a_run_must_tell_of_its_registry() -> None:
    rows = FindingRows(known(KnownCause("a", "A", line=3), KnownCause("a", "B", line=9)))
    assert rows.notes == ()
    rows.told(found("a"))
    rows.told(found("a"))
    (matched,) = rows.notes
    assert matched == f"known.toml: lines 3 and 9 both match {finding().signature.slug}; the first counts"


def unreduced(culprit: str, tier: Tier = "B", message: str = "it crashed") -> Failure:
    return Failure(0, "survives", "crash", message, "", culprit, tier)


@pytest.mark.parametrize(
    ("entries", "signatures", "tiers"),
    [
        ((), (), ("B",)),
        ((KnownCause("MinePlus: it crashed", "A"),), (), ("B",)),
        ((KnownCause("mine.py:run in Mine: it crashed", "A"),), (), ()),
        ((KnownCause("perhaps Mine: it crashed", "A"),), (), ()),
        ((KnownCause("mine.py: run in Mine: it crashed", "A"),), (), ()),
        ((KnownCause("FuseOps: Mine: Mine", "A"),), (), ("B",)),
        ((KnownCause("mine.py: Mine: it crashed in Mine", "A"),), (), ("B",)),
        ((KnownCause("Mine: it crashed", "A", "fixed-in", fixed_in="0.28.0"),), (), ("B",)),
        ((KnownCause("Mine: it crashed", "A", "fixed-in", fixed_in="0.29.0"),), (), ()),
        ((KnownCause("a", "A", passes=("Mine",)),), (), ()),
        ((KnownCause("a", "A", also=("Mine: it crashed",)),), (), ()),
        ((KnownCause("Mine: it crashed", "A", blames=("Mine",)),), (), ()),
        ((KnownCause("in other words", "A", blames=("Mine",)),), (), ()),
        ((KnownCause("Mine: in other words", "A", blames=("FuseOps",)),), (), ("B",)),
        ((KnownCause("Mine: in other words", "A", blames=()),), (), ("B",)),
        ((KnownCause("Mine: in other words", "A", blames=(), passes=("Mine",)),), (), ()),
        ((KnownCause("", "A", "limitation", quote="it crashed as it does"),), (), ()),
        ((), ("survives-Mine-01234567",), ()),
        ((), ("survives-MinePlus-01234567",), ("B",)),
    ],
)
def test_what_is_not_reduced_is_new_where_nothing_known_names_the_users_pass(
    entries: tuple[KnownCause, ...], signatures: tuple[str, ...], tiers: tuple[str, ...]
) -> None:
    told = Known(TVM, Registry(entries, Path("known.toml")), frozenset(signatures))
    seen = [unreduced("Mine", message="it crashed as it does"), unreduced("FuseOps", "A"), unreduced("none", "A")]
    assert told.new_tiers(seen, ("Mine", "MinePlus")) == tiers


def test_a_case_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "known.toml"
    entries = [KnownCause(name, name, case=case) for name, case in (("a", ""), ("b", "there"), ("c", "nope"))]
    add_entries(path, entries)
    (tmp_path / "cases" / "there").mkdir(parents=True)
    headers = [number for number, line in enumerate(path.read_text().splitlines(), 1) if line == "[[cause]]"]
    said = f"passfuzz: warning: --known {path}, line {headers[2]}: case: no folder nope in {tmp_path / 'cases'}"
    assert len(read_known_causes(path, TVM).registry.entries) == 3
    assert capsys.readouterr().err == f"{said}\n"
    list_causes(path, date(2026, 1, 1), stale=False)
    assert capsys.readouterr().err == f"{said}\n"
    (tmp_path / "cases" / "there").rmdir()
    read_known_causes(path, TVM)
    assert "; 1 more of 2 is not there either\n" in capsys.readouterr().err


def test_the_cases_of_the_shipped_registry_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    read_known_causes(SHIPPED, TVM)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("left_s", "looks_known", "limits"),
    [
        (inf, False, (45.0, 60.0)),
        (inf, True, (15.0, 60.0)),
        (300.0, False, (30.0, 60.0)),
        (60.0, False, (15.0, 30.0)),
        (10.0, False, (5.0, 5.0)),
        (0.0, True, (2.0, 2.0)),
    ],
)
def test_what_looks_new_is_reduced_longer_where_there_is_time(
    left_s: float, looks_known: bool, limits: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "REDUCE_S", 15.0)
    monkeypatch.setattr(aside, "REDUCE_NEW_S", 45.0)
    monkeypatch.setattr(aside, "CEILING_S", 60.0)
    assert aside.reduction_limits(left_s, looks_known) == limits
