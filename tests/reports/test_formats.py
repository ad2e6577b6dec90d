"""Each report format: valid by its own parser, says what was found, and survives what compilers print."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from corpus.registry import cause_id
from oracles.evidence import Died
from reports import formats, junit, markdown, sarif
from reports.finding_files import Files
from reports.formats import FORMATS, Format, format_named, write_formats
from reports.out_writer import OutWriter
from reports.summary import SUMMARY_FILE, Report, RunEnd, read_out
from reports.words import SCREEN
from tests.reports.reports_data import NASTY, facts, finding, known_finding, report, tally


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_names_the_culprit_and_is_written_to_its_file(row: Format, tmp_path: Path) -> None:
    path = row.write(tmp_path, report(finding("FuseOps"), finding("CSE", message=NASTY)))
    assert path == tmp_path / row.file
    text = path.read_text()
    assert "FuseOps" in text
    assert "CSE" in text


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_can_say_that_nothing_was_found(row: Format) -> None:
    text = row.render(Report(facts(), tally(), ()))
    assert text.endswith("\n")
    assert "well_formed-FuseOps" not in text


def test_names_and_files_are_unique() -> None:
    assert sorted(row.name for row in FORMATS) == ["html", "junit", "markdown", "sarif"]
    assert len({row.file for row in FORMATS}) == len(FORMATS)
    with pytest.raises(KeyError):
        format_named("pdf")


# --- Markdown -------------------------------------------------------------------------------------------


def test_markdown_puts_the_worst_first_and_says_what_it_knows_in_a_line() -> None:
    text = markdown.render(
        report(
            finding("FuseOps"),
            finding("CSE", tier="B"),
            finding("Gradient", symptom="wrong result"),
            finding("AlterOpImpl", "SIGSEGV in AlterOpImpl", symptom="crash", evidence=Died("SIGSEGV")),
            finding("KillAfterLastUse", tier="C"),
            known_finding("CallTIRRewrite"),
        )
    )
    assert text.startswith("# passfuzz: 5 new causes (5 findings), 1 known\n")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert [line.split(": ")[:2] for line in lines] == [
        ["- **silent wrong result**", "Gradient"],
        ["- **native crash**", "AlterOpImpl"],
        ["- **official pipeline**", "FuseOps"],
        ["- **documented phase**", "CSE"],
    ]
    assert "1 new only in odd orders of passes (tier C): KillAfterLastUse." in text
    assert "1 known: CallTIRRewrite." in text


def test_markdown_says_a_cause_once() -> None:
    rows = [replace(row, cause="one") for row in report(finding("FuseOps", "a"), finding("FuseOps", "b b")).findings]
    text = markdown.render(replace(report(), findings=tuple(rows)))
    assert text.startswith("# passfuzz: 1 new cause (2 findings), 0 known\n")
    assert text.count("- **") == 1


def test_markdown_is_one_screen_however_much_was_found() -> None:
    many = [finding(f"Pass{number}", tier="ABC"[number % 3]) for number in range(300)]
    rest = [known_finding(f"Known{number}") for number in range(50)]
    text = markdown.render(replace(report(*many, *rest), notes=tuple(f"note {number}" for number in range(40))))
    assert len(text.splitlines()) <= SCREEN
    assert "- and 180 more: 80 official pipeline, 100 documented phase" in text
    assert "And 38 more notes." in text


def test_markdown_has_no_counters() -> None:
    text = markdown.render(report(finding()))
    assert "near-tie" not in text and "no reference" not in text and "LiftTransformParams" not in text


def test_markdown_gives_the_script_to_run() -> None:
    found = finding()
    text = markdown.render(report(found))
    assert f"`findings/{found.signature.slug}/repro.py`" in text
    assert "python OUT/SCRIPT" in text


def test_markdown_keeps_a_cause_on_its_line_whatever_a_message_holds() -> None:
    text = markdown.render(report(finding(message=NASTY + "\nsecond line")))
    (row,) = [line for line in text.splitlines() if line.startswith("- ")]
    assert "second line" in row and "<b>" not in row


def test_markdown_says_when_results_cannot_be_trusted() -> None:
    assert "cannot be trusted: the generator is wrong" in markdown.render(report(own_fault="the generator is wrong"))


# --- JUnit ----------------------------------------------------------------------------------------------


def _cases(text: str) -> dict[str, ElementTree.Element]:
    return {case.attrib["name"]: case for case in ElementTree.fromstring(text).iter("testcase")}


def test_junit_has_one_case_per_pass_and_oracle() -> None:
    cases = _cases(junit.render(report()))
    assert list(cases) == ["FuseOps", "LiftTransformParams", "numbers", "well_formed"]
    assert cases["numbers"].find("skipped") is not None
    assert cases["well_formed"].find("failure") is None


def test_junit_fails_new_causes_and_skips_known_ones() -> None:
    text = junit.render(report(finding("FuseOps"), known_finding("CSE"), finding("none")))
    causes, passes, oracles = ElementTree.fromstring(text).findall("testsuite")
    outcome = {
        case.attrib["classname"]: [child.tag for child in case if child.tag != "system-out"]
        for case in causes.findall("testcase")
    }
    assert outcome == {
        "passfuzz.causes.FuseOps": ["failure"],
        "passfuzz.causes.CSE": ["skipped"],
        "passfuzz.causes.none": ["failure"],
    }
    counts = {"tests": "3", "failures": "2", "errors": "0", "skipped": "1"}
    assert causes.attrib == {"name": "causes", "time": "0.000", **counts}
    assert [case.attrib["name"] for case in passes.findall("testcase")] == ["LiftTransformParams"], (
        "a pass that is blamed has not passed"
    )
    assert [case.attrib["name"] for case in oracles.findall("testcase")] == ["numbers"]


def test_junit_counts_a_cause_once_and_names_its_findings() -> None:
    rows = [replace(row, cause="one") for row in report(finding("FuseOps", "a"), finding("FuseOps", "b b")).findings]
    text = junit.render(replace(report(), findings=tuple(rows)))
    (failure,) = ElementTree.fromstring(text).iter("failure")
    assert all(row.signature in (failure.text or "") for row in rows)


def test_the_name_of_a_junit_case_is_the_same_in_another_run() -> None:
    one, other = (replace(report(finding(message=text)).findings[0], cause="fuse_ops.cc: x") for text in ("x 1", "x 2"))
    names = [list(_cases(junit.render(replace(report(), findings=(row,)))))[0] for row in (one, other)]
    assert names[0] == names[1] == f"{cause_id('fuse_ops.cc: x')} fuse_ops.cc: x"


def test_junit_is_xml_whatever_a_message_holds() -> None:
    (failure,) = ElementTree.fromstring(junit.render(report(finding(message=NASTY)))).iter("failure")
    shown = NASTY.replace("\x00", r"\x00").replace("\x1b", r"\x1b")
    assert failure.attrib["message"] == "official pipeline: " + shown


# --- SARIF ----------------------------------------------------------------------------------------------


def test_sarif_has_what_the_schema_requires() -> None:
    data = json.loads(sarif.render(report(finding("FuseOps"), known_finding("CSE"), finding("DCE", tier="C"))))
    assert data["version"] == "2.1.0"
    (run,) = data["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "passfuzz"
    levels = {result["properties"]["culprit"]: result["level"] for result in run["results"]}
    assert levels == {"FuseOps": "error", "CSE": "note", "DCE": "warning"}
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        location = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert location["uri"].endswith("/repro.py")
        assert location["uriBaseId"] == "OUT"
    fingerprints = {result["partialFingerprints"]["passfuzz/cause/v1"] for result in run["results"]}
    assert len(fingerprints) == 3


def test_sarif_has_one_result_for_a_cause_and_suppresses_what_is_known() -> None:
    rows = [replace(row, cause="one") for row in report(finding("FuseOps", "a"), finding("FuseOps", "b b")).findings]
    row = replace(known_finding("CSE"), cause="two", link="apache/tvm#1")
    (run,) = json.loads(sarif.render(replace(report(), findings=(*rows, row))))["runs"]
    new, old = run["results"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [cause_id("one"), cause_id("two")]
    assert new["occurrenceCount"] == 2 and len(new["relatedLocations"]) == 1 and new["suppressions"] == []
    (suppression,) = old["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert "apache/tvm#1" in suppression["justification"]


# --- how the run ended, and what its reader must know ---------------------------------------------------


ENDS = [
    ("done", None),
    (None, "has not ended: it is still running, was killed, or could not write its end"),
    ("unknown", "do not say whether the run went to its end"),
    ("interrupted", "was interrupted before its end"),
    ("fault", None),
]


@pytest.mark.parametrize(("ended", "says"), ENDS)
@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_says_how_the_run_ended(row: Format, ended: RunEnd | None, says: str | None) -> None:
    text = row.render(Report(replace(facts(), ended=ended), tally(), ()))
    assert [other for _, other in ENDS if other is not None and other in text] == [says] * (says is not None)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_shows_the_notes(row: Format) -> None:
    text = row.render(replace(report(finding()), notes=("first note", "second note")))
    assert "first note" in text and "second note" in text


def test_the_markdown_and_the_page_say_it_before_the_findings() -> None:
    text, page = (format_named(name).render(report(finding())) for name in ("markdown", "html"))
    assert text.index("has not ended") < text.index("- **")
    assert page.index("has not ended") < page.index("<main>")


def test_sarif_calls_no_run_successful_that_has_not_ended() -> None:
    for ended, fault, successful in (("done", None, True), (None, None, False), ("done", "x", False)):
        (run,) = json.loads(sarif.render(Report(replace(facts(own_fault=fault), ended=ended), tally(), ())))["runs"]
        assert run["invocations"][0]["executionSuccessful"] is successful


@pytest.mark.parametrize("ended", [None, "done"])
@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_one_that_cannot_be_written_keeps_no_other_from_it(tmp_path: Path, row: Format, ended: RunEnd | None) -> None:
    """As on a full disk: of the one that fails nothing of an earlier moment stays once the run has ended."""
    report = Report(replace(facts(), ended=ended), tally(), ())
    for one in FORMATS:
        (tmp_path / one.file).write_text("earlier")

    def full(_report: Report, _files: Files) -> str:
        raise OSError(28, "No space left on device", str(tmp_path / row.file))

    rows = tuple(replace(one, text=full) if one is row else one for one in FORMATS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "FORMATS", rows)
        with pytest.raises(OSError, match=row.file):
            write_formats(tmp_path, report)
    assert (tmp_path / row.file).exists() == (ended is None)
    assert all("earlier" not in (tmp_path / one.file).read_text() for one in FORMATS if one is not row)


def test_a_run_whose_reports_cannot_be_written_does_not_read_as_done(tmp_path: Path) -> None:
    def full(out: Path, _report: Report) -> None:
        assert not (out / SUMMARY_FILE).exists(), "summary.json says how the run ended, and comes last"
        raise OSError(28, "No space left on device", "report.html")

    done = Report(replace(facts(), ended="done"), tally(), ())
    with pytest.raises(OSError, match="report.html"):
        OutWriter(tmp_path, facts(), others=full).write(done)
    told = read_out(tmp_path).facts
    assert (told.ended, told.own_fault) == ("fault", "report.html: No space left on device")
