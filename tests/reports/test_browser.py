"""The page in a browser: it opens without complaint, by keyboard too, copies, filters, and fits a phone.

Skipped where there is no Chromium (Debian: the package `chromium`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from reports import html
from reports.finding_files import FindingFiles, files_under
from reports.finding_row import FindingRow
from reports.summary import Report, read_out
from tests.hostile import HOSTILE
from tests.quick import one_in
from tests.reports.chromium import Page, a_page, executable
from tests.reports.many_findings import write_many
from tests.reports.reports_data import finding, known_finding, report

pytestmark = pytest.mark.skipif(executable() is None, reason="needs Chromium")

EVERYTHING = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
CAUSES = "document.querySelectorAll('details.cause')"
BUTTON = f"{CAUSES}[0].querySelector('button[data-copy$=s]')"
SHOWN = f"[...{CAUSES}].filter(one => one.checkVisibility()).length"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with a_page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    """The report of 30 findings, 3 of them known."""
    write_many(tmp_path, 30)
    put(browser, tmp_path, html.render(read_out(tmp_path), files_under(tmp_path)))
    return browser


def put(browser: Page, folder: Path, text: str, fragment: str = "") -> None:
    browser.look()
    path = folder / "report.html"
    path.write_text(text)
    browser.open("about:blank")
    browser.open(f"{path.as_uri()}{fragment}")


def script_of(page: Page, number: int = 0) -> str:
    return str(page.evaluate(f"{CAUSES}[{number}].querySelector('pre[id$=s]').textContent"))


def test_it_opens_without_a_complaint_and_asks_for_nothing(page: Page) -> None:
    page.evaluate(EVERYTHING)
    assert page.evaluate("document.title") == "passfuzz: 27 new causes (27 findings), 3 known"
    assert page.evaluate(f"{CAUSES}.length") == 30
    assert page.evaluate("document.querySelectorAll('svg[role=img]').length") == 2
    assert page.problems == []


@pytest.mark.parametrize(("width", "dark"), one_in(3, product((360, 390, 768, 1200), (False, True))))
def test_nothing_is_wider_than_the_window(page: Page, width: int, dark: bool) -> None:
    page.look(width, dark)
    page.evaluate(EVERYTHING)
    assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
    light = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] > 128")
    assert light is not dark


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_on_its_ground(page: Page, dark: bool) -> None:
    """The contrast that WCAG 2.2 asks of text, 4.5 to 1 (success criterion 1.4.3)."""
    page.look(dark=dark)
    page.evaluate(EVERYTHING)
    assert page.evaluate(CONTRAST) == []


CONTRAST = """(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = numbers(color).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (at) => {
    for (; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (numbers(color)[3] !== 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = new Set();
  for (const one of document.querySelectorAll("body *")) {
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    if (["SCRIPT", "STYLE", "TITLE", "DESC", "title", "desc"].includes(one.tagName)) continue;
    const style = getComputedStyle(one);
    const color = one instanceof SVGElement ? style.fill : style.color;
    const pair = [light(color), light(ground(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) poor.add(`${one.tagName}.${one.getAttribute("class")}: ${ratio.toFixed(2)}`);
  }
  return [...poor];
})()"""


def test_a_cause_opens_by_keyboard(page: Page) -> None:
    page.evaluate(f"{CAUSES}[0].querySelector('summary').focus()")
    page.press("Enter", "\r")
    assert page.evaluate(f"{CAUSES}[0].open") is True
    page.press("Tab")
    assert page.evaluate(f"{CAUSES}[0].contains(document.activeElement)") is True
    assert page.evaluate("document.activeElement.tagName") in ("PRE", "SUMMARY")


def test_every_control_is_reached_by_tab_and_has_a_name(page: Page) -> None:
    page.evaluate(EVERYTHING)
    controls = "[...document.querySelectorAll('button, input, summary, a, [tabindex]')]"
    assert page.evaluate(f"{controls}.filter(one => one.tabIndex < 0).length") == 0
    unnamed = "one.tagName !== 'PRE' && !(one.textContent || one.labels?.length || one.ariaLabel)"
    assert page.evaluate(f"{controls}.filter(one => {unnamed}).length") == 0


def test_a_script_is_copied(page: Page) -> None:
    page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.evaluate(EVERYTHING)
    page.evaluate(f"{BUTTON}.click()")
    page.evaluate("new Promise(go => setTimeout(go, 200))")
    assert page.evaluate("navigator.clipboard.readText()") == script_of(page) != ""
    assert page.evaluate(f"{BUTTON}.textContent") == "Copied"


@pytest.mark.parametrize(("works", "says"), [("true", "Copied"), ("false", "Press Ctrl+C")])
@pytest.mark.parametrize("clipboard", ["undefined", "{ writeText: () => Promise.reject(new Error('no')) }"])
def test_where_the_clipboard_is_out_of_reach_the_script_is_selected(
    page: Page, clipboard: str, works: str, says: str
) -> None:
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }})")
    page.evaluate(f"document.execCommand = () => {works}")
    page.evaluate(EVERYTHING)
    page.evaluate(f"{BUTTON}.click()")
    page.evaluate("new Promise(go => setTimeout(go, 200))")
    assert page.evaluate(f"{BUTTON}.textContent") == says
    assert page.evaluate("String(getSelection())").split() == script_of(page).split()


def test_a_link_to_a_known_cause_opens_it_and_its_fold(browser: Page, tmp_path: Path) -> None:
    many = report(finding("FuseOps"), known_finding("CSE"))
    other = many.causes[1].id
    put(browser, tmp_path, html.render(many), f"#{other}")
    assert browser.evaluate(f"document.getElementById('{other}').open && document.getElementById('known').open") is True
    assert browser.evaluate(f"document.getElementById('{many.causes[0].id}').open") is False


def test_the_filter_leaves_what_has_all_words(page: Page) -> None:
    assert page.evaluate(SHOWN) == 18, "of 30 causes 3 are known and 9 need an odd order of passes; these are folded"
    page.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"
    page.call("Input.insertText", text="PASS7 pass_7.cc")
    assert page.evaluate(SHOWN) == 1
    assert page.evaluate("document.getElementById('matches').textContent") == "1 of 30 causes"
    assert page.evaluate("[...document.querySelectorAll('h3')].filter(one => one.checkVisibility()).length") == 1
    page.press("Escape")
    assert page.evaluate("document.getElementById('filter').value") == ""
    assert page.evaluate(f"[...{CAUSES}].filter(one => one.hidden).length") == 0


def test_all_opens_and_closes(page: Page) -> None:
    opened = f"[...{CAUSES}].filter(one => one.open).length"
    page.evaluate("document.getElementById('open-all').click()")
    assert page.evaluate(opened) == 30
    page.evaluate("document.getElementById('open-all').click()")
    assert page.evaluate(opened) == 0


BREAKING = '</pre></script></style><script>window.broken = 1</script><img src="x" onerror="window.broken = 1">'


def test_what_a_stranger_wrote_runs_nothing_and_loads_nothing(browser: Page, tmp_path: Path) -> None:
    for text in (BREAKING, HOSTILE.encode("utf-8", "replace").decode()):
        row = FindingRow(text, text, text, text, text, title=text, link=text, cause=text)
        files = FindingFiles(text, text, text, f"---\n+++\n-{text}\n+{text}", (text,))
        shown = Report(report().facts, report().tally, (row,), (text,))
        put(browser, tmp_path, html.render(shown, lambda row, files=files: files))
        browser.evaluate(EVERYTHING)
        assert browser.evaluate("window.broken") is None
        assert browser.problems == []
        assert browser.evaluate("document.querySelectorAll('img, iframe, script').length") == 1
