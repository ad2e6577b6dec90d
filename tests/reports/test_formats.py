"""Each report format: valid by its own parser, says what was found, and survives what compilers print."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reports import html, junit, markdown, sarif
from reports.formats import FORMATS, Format, format_named
from reports.summary import Ended, Report
from tests.reports.reports_data import NASTY, facts, finding, report, tally


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


def test_markdown_puts_findings_first_then_validity_passes_and_skips() -> None:
    text = markdown.render(report(finding()))
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Findings", "## Validity", "## Passes", "## Oracles", "## Not judged"]
    assert text.startswith("# passfuzz: 1 new, 0 known\n")


def test_markdown_gives_fire_rates_least_first() -> None:
    lines = markdown.render(report()).splitlines()
    least = lines.index("| LiftTransformParams | 8 | 0 | 0.0% | 2 | 0 |")
    most = lines.index("| FuseOps | 20 | 15 | 75.0% | 0 | 1 |")
    assert least < most
    assert "1 of 2 passes changed no module." in lines


def test_markdown_says_at_the_top_what_was_not_judged_and_folds_what_does_not_apply() -> None:
    text = markdown.render(report())
    top = text[: text.index("## ")]
    assert "Not judged: 7 skipped, 3 inconclusive: no reference (5), near-tie (3), too large (2)." in top
    skipped = text[text.index("### Skipped") : text.index("### Inconclusive")]
    assert "another pass" not in skipped
    folded = text[text.index("<details><summary>Nothing to judge") :]
    assert "| about another pass | 40 |" in folded


def test_html_separates_what_does_not_apply() -> None:
    text = html.render(report())
    assert text.index("Not judged: 7 skipped") < text.index("<h2>Skipped</h2>")
    assert text.index("about another pass") > text.index("<h2>Nothing to judge")


def test_markdown_gives_reasons_largest_first() -> None:
    text = markdown.render(report())
    assert text.index("| no reference | 5 |") < text.index("| too large | 2 |")
    assert "| near-tie | 3 |" in text


def test_markdown_gives_the_command_to_reproduce() -> None:
    found = finding()
    assert f"python OUT/findings/{found.signature.slug}/repro.py" in markdown.render(report(found))


def test_markdown_tables_keep_their_shape_whatever_a_message_holds() -> None:
    text = markdown.render(report(finding(message=NASTY + "\nsecond line")))
    (row,) = [line for line in text.splitlines() if line.startswith("| FuseOps | ill-formed")]
    assert row.replace("\\|", "").count("|") == 9
    assert "<b>" not in row


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


def test_junit_fails_the_culprit_and_not_for_known_findings() -> None:
    cases = _cases(junit.render(report(finding("FuseOps"), finding("CSE", status="known"), finding("none"))))
    assert [name for name, case in cases.items() if case.find("failure") is not None] == ["FuseOps", "well_formed"]
    output = cases["CSE"].find("system-out")
    assert output is not None
    assert "known: well_formed-CSE" in (output.text or "")


def test_junit_counts_what_it_holds() -> None:
    root = ElementTree.fromstring(junit.render(report(finding("FuseOps"), finding("FuseOps", "another"))))
    (passes, oracles) = root.findall("testsuite")
    assert passes.attrib == {"name": "passes", "tests": "2", "failures": "1", "errors": "0", "skipped": "0"}
    assert oracles.attrib["skipped"] == "1"
    assert len(root.findall(".//failure")) == 2


def test_junit_is_xml_whatever_a_message_holds() -> None:
    cases = _cases(junit.render(report(finding(message=NASTY))))
    failure = cases["FuseOps"].find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "ill-formed: " + NASTY.replace("\x00", r"\x00").replace("\x1b", r"\x1b")


# --- SARIF ----------------------------------------------------------------------------------------------


def test_sarif_has_what_the_schema_requires() -> None:
    data = json.loads(
        sarif.render(report(finding("FuseOps"), finding("CSE", status="known"), finding("DCE", tier="C")))
    )
    assert data["version"] == "2.1.0"
    (run,) = data["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "passfuzz"
    assert [result["level"] for result in run["results"]] == ["error", "note", "warning"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        location = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert location["uri"].endswith("/repro.py")
        assert location["uriBaseId"] == "OUT"
    fingerprints = {result["partialFingerprints"]["passfuzz/v1"] for result in run["results"]}
    assert len(fingerprints) == 3


# --- HTML -----------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    """Collects tags, and what would load something from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name == "src" or (name == "href" and tag == "link")]


def test_html_is_one_self_contained_page_without_script() -> None:
    page = _Page()
    page.feed(html.render(report(finding(message="<script>alert(1)</script>"))))
    assert "script" not in page.tags
    assert page.loads == []
    assert page.tags.count("table") == 5


# --- how the run ended, and what its reader must know ---------------------------------------------------


ENDS = [
    ("done", None),
    (None, "has not ended: it is still running, or it was killed"),
    ("unknown", "do not say whether the run went to its end"),
    ("interrupted", "was interrupted before its end"),
    ("fault", None),
]


@pytest.mark.parametrize(("ended", "says"), ENDS)
@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_says_how_the_run_ended(row: Format, ended: Ended | None, says: str | None) -> None:
    text = row.render(Report(replace(facts(), ended=ended), tally(), ()))
    assert [other for _, other in ENDS if other is not None and other in text] == [says] * (says is not None)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_shows_the_notes(row: Format) -> None:
    text = row.render(replace(report(finding()), notes=("first note", "second note")))
    assert "first note" in text and "second note" in text


def test_the_markdown_and_the_page_say_it_before_the_findings() -> None:
    text, page = (format_named(name).render(report(finding())) for name in ("markdown", "html"))
    assert text.index("has not ended") < text.index("## Findings")
    assert page.index("has not ended") < page.index("<h2>Findings")


def test_sarif_calls_no_run_successful_that_has_not_ended() -> None:
    for ended, fault, successful in (("done", None, True), (None, None, False), ("done", "x", False)):
        (run,) = json.loads(sarif.render(Report(replace(facts(own_fault=fault), ended=ended), tally(), ())))["runs"]
        assert run["invocations"][0]["executionSuccessful"] is successful
