"""The page as a document: what it holds and in which order, that it is whole by itself, and how large it gets."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports import html
from reports.finding_files import FindingFiles, files_under
from reports.finding_row import FindingRow
from reports.formats import format_named
from reports.summary import Report, read_out
from tests.reports.many_findings import write_many
from tests.reports.reports_data import finding, known_finding, report

TEMPLATES = Path(html.__file__).parent / "templates"
MOST_BYTES = 5_000_000
"""Of the page of 500 findings with ordinary scripts."""


class Page(HTMLParser):
    """Elements with their attributes, in order; the text of those without children of their own; whether tags match."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.unmatched: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def said(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


def texts(row: FindingRow) -> FindingFiles:
    return FindingFiles(
        title="[Relax] a title",
        script="import tvm\n",
        issue="# an issue\n",
        difference="--- before\n+++ after\n@@ main @@\n def main():\n-    a = x\n-    b = a\n+    a = y\n",
        fault=("The pass is wrong.",),
    )


def test_the_page_is_well_formed_and_whole_by_itself() -> None:
    page = Page(html.render(report(finding(), known_finding("CSE"), finding("DCE", tier="C")), texts))
    assert (page.unmatched, page.open) == ([], [])
    loaded = [value for _, attributes in page.elements for name, value in attributes.items() if name == "src"]
    assert loaded == [] and page.of("link") == [] and len(page.of("script")) == len(page.of("style")) == 1
    inline = [
        name for _, attributes in page.elements for name in attributes if name.startswith("on") or name == "style"
    ]
    assert inline == [], "the policy would refuse them"


def test_the_policy_names_what_the_page_runs_by_its_hash() -> None:
    text = html.render(report(finding()))
    policy = next(of["content"] for of in Page(text).of("meta") if "http-equiv" in of)
    assert policy is not None and "default-src 'none'" in policy and "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_ids_are_unique_and_fragments_lead_somewhere() -> None:
    page = Page(html.render(report(finding(), known_finding("CSE"), finding("DCE", tier="C")), texts))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    fragments = [of["href"] for of in page.of("a") if (of["href"] or "").startswith("#")]
    assert {str(one)[1:] for one in fragments} <= set(ids)
    named = [one for _, of in page.elements for one in (of.get("aria-labelledby") or "").split()]
    assert set(named) <= set(ids) and len(named) >= 4
    assert {of["data-copy"] for of in page.of("button") if "data-copy" in of} <= set(ids)


def test_the_page_puts_the_worst_first_and_folds_odd_orders_and_what_is_known() -> None:
    found = (
        finding("FuseOps"),
        finding("Gradient", symptom="wrong result"),
        finding("KillAfterLastUse", tier="C"),
        known_finding("CSE"),
    )
    text = html.render(report(*found), texts)
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert heads == [
        *("Silent wrong results <b>1</b>", "Official pipelines <b>1</b>", "Odd orders of passes <b>1</b>"),
        *("Known <b>1</b>", "The run in pictures", "Counters"),
    ]
    folds = {of["id"]: of["class"] for of in Page(text).of("details") if "section" in (of.get("class") or "")}
    assert folds.keys() == {"odd-orders-of-passes", "known"}
    assert not [of for of in Page(text).of("details") if "open" in of and of["class"] != "text"]


def test_a_cause_has_its_change_values_script_issue_and_findings() -> None:
    rows = [
        replace(row, cause="a.cc: x") for row in report(finding(message="a"), finding(message="b b", at_s=0.5)).findings
    ]
    page = Page(html.render(replace(report(), findings=tuple(rows)), texts))
    assert len([of for of in page.of("details") if "cause" in (of.get("class") or "").split()]) == 1
    assert page.said("del") == ["-    a = x\n-    b = a"]
    assert page.said("ins") == ["+    a = y"]
    assert page.said("pre") == ["# an issue", "import tvm"]
    assert "The pass is wrong." in page.said("li")
    assert [text for text in page.said("a") if text in {row.signature for row in rows}] == [
        row.signature for row in rows
    ]
    assert "a.cc: x" in page.said("code")


def test_what_stands_in_the_registry_is_said() -> None:
    row = replace(report(known_finding("FuseOps")).findings[0], title="its title", link="apache/tvm#1", cause="x: y")
    returned = replace(report(finding("CSE")).findings[0], standing="returned", cause="z")
    limit = replace(report(finding("DCE")).findings[0], standing="limitation", known=True, cause="w")
    text = html.render(replace(report(), findings=(row, returned, limit)), texts)
    assert "<h1>0 new causes, 1 returned, 2 known</h1>" in text
    assert "its title" in text and "https://github.com/apache/tvm/issues/1" in text
    assert '<b class="mark">returned</b>' in text and "limit that TVM states" in text
    assert text.index('class="mark"') < text.index('id="known"')


def test_reasons_are_explained_and_folded() -> None:
    text = html.render(report())
    assert "What was not judged, and why" in text
    top = text[: text.index('id="appendix"')]
    assert "near-tie" not in top and "no reference" not in top


def test_a_page_without_findings_says_so() -> None:
    text = html.render(report())
    assert "<h1>0 new causes, 0 known</h1>" in text and "No finding." in text
    known = html.render(report(known_finding("FuseOps")))
    assert "Nothing new." in known


def test_templates_switch_no_escaping_off() -> None:
    sources = [path.read_text() for path in TEMPLATES.iterdir()]
    assert len(sources) >= 6
    assert not [text for text in sources if re.search(r"\|\s*safe|autoescape|Markup", text)]


def test_texts_are_read_from_the_folder_of_the_page(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_many(out, 3)
    path = format_named("html").write(out, read_out(out))
    page = Page(path.read_text())
    assert len([text for text in page.said("pre") if "os.fork" in text]) == 3
    assert len(page.said("ins")) >= 3
    assert html.render(read_out(out)).count("os.fork") == 0


def test_the_page_of_500_findings_is_of_a_size_that_opens(tmp_path: Path) -> None:
    write_many(tmp_path, 500)
    report_of_many: Report = read_out(tmp_path)
    text = html.render(report_of_many, files_under(tmp_path))
    assert len(text.encode()) < MOST_BYTES
    assert text.count("os.fork") == 500, "every script is on the page"


@pytest.mark.parametrize("longest", [10_000, 60_000])
def test_texts_that_find_no_room_are_named(longest: int) -> None:
    many = report(*(finding(f"Pass{number}") for number in range(400)))
    text = html.render(many, lambda row: FindingFiles(script='"' * longest))
    assert len(text) < html.MOST_TEXT + 2_000_000
    assert "This page has no room for its texts" in text
    assert text.index("<pre id=") < text.index("This page has no room")


def test_operators_of_new_causes_are_shown_by_pass() -> None:
    script = "x = R.add(y, R.const(1))\nz = R.unknown(x)\n"
    both = report(finding("FuseOps"), known_finding("CSE"))
    page = Page(html.render(both, lambda row: FindingFiles(script=script)))
    rows = [of for of in page.of("th") if "scope" in of]
    assert [of["scope"] for of in rows] == ["col", "row"], "one operator that the tally has, one pass that is new"
