"""One page for each known bug, and an index: `docs/bugs`, made by `make docs-bugs` and held by a test. No TVM here.

The text of a page comes from an entry (`Bug`) and from the case folder that shows it, and is escaped: a title and a
module may be any user's. Code in `why` and `fix` stands between backticks. `python -m corpus.bug_pages` writes the
pages of the registry.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import jinja2

from corpus.causes.severity import SEVERITIES, Severity
from corpus.escapes import Markdown
from corpus.migration import difference_before_fields
from corpus.registry import CASES, SHIPPED, KnownCause, Registry, cause_id, read_registry
from corpus.regular_files import read_regular
from corpus.scripts.repro_imports import imports_for, needs_late_annotations
from corpus.store import MOST_TEXT, read_case

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "bugs"
INDEX = "README.md"
LONGEST_SLUG = 72


class Bug(Protocol):
    """What a page says of a bug.

    identity: what tells it from all others. title: one line, as of an issue. severity: "" where no person has said.
    status: open, wont-fix, limitation or fixed-in. root: file:function of TVM. why: whose fault it is, and how, ""
    if that is not known yet. fix: what would mend it. link: an issue or pull request. case: the folder in
    `corpus/cases` that shows it, "" where there is none. quote: of a limit, TVM's own sentence. read: whether the
    source in `root` was read line by line.
    """

    @property
    def identity(self) -> str: ...

    @property
    def title(self) -> str: ...
    @property
    def severity(self) -> Severity | Literal[""]: ...
    @property
    def status(self) -> str: ...
    @property
    def passes(self) -> Sequence[str]: ...
    @property
    def versions(self) -> Sequence[str]: ...
    @property
    def root(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def fix(self) -> str: ...
    @property
    def link(self) -> str: ...
    @property
    def case(self) -> str: ...
    @property
    def quote(self) -> str: ...
    @property
    def fixed_in(self) -> str: ...
    @property
    def read(self) -> bool: ...


class AmbiguousPage(Exception):
    """Two bugs with one title and one identity; the text is the title."""


@dataclass(frozen=True, slots=True)
class ShownCase:
    """What a page shows of a case folder.

    sequence: the passes, in code. difference: what the pass did, a unified diff. place: the way to the folder from a
    page. outcomes: of its script, by TVM version.
    """

    module: str
    sequence: Markdown
    symptom: str
    message: str
    difference: str
    place: str
    outcomes: tuple[tuple[str, str], ...]


# --- names ----------------------------------------------------------------------------------------------


def slug(title: str) -> str:
    """The name of a page: the words of the title in lower case, cut between two of them."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = ""
    for word in words:
        longer = "-".join(filter(None, (name, word)))
        if len(longer) > LONGEST_SLUG:
            break
        name = longer
    return name or "bug"


def _named(bugs: Iterable[Bug]) -> dict[str, Bug]:
    """Each bug by the name of its page. Of titles with the same words, the first has the plain name."""
    named: dict[str, Bug] = {}
    for bug in bugs:
        plain = slug(bug.title)
        name = plain if plain not in named else "-".join((plain, cause_id(bug.identity)))
        if name in named:
            raise AmbiguousPage(bug.title)
        named[name] = bug
    return named


# --- text -----------------------------------------------------------------------------------------------


def of_registry(registry: Registry) -> tuple[KnownCause, ...]:
    """The entries that have a page: those of which it is said why, and those that a case shows."""
    return tuple(entry for entry in registry.entries if entry.why or entry.case)


def pages(bugs: Iterable[Bug], cases: Path, to_cases: str = "../../corpus/cases") -> dict[str, str]:
    """The text of each page by its file name, the index among them. cases: the folder that case folders are in;
    to_cases: the way there from a page.

    Raises AmbiguousPage, and what `corpus.store.read_case` raises for a case that cannot be read.
    """
    named = _named(bugs)
    texts = {
        _file(name): _page(bug, _shown(cases / bug.case, to_cases) if bug.case else None) for name, bug in named.items()
    }
    return {INDEX: _index(named), **texts}


def _file(name: str) -> str:
    return "".join((name, ".md"))


def _page(bug: Bug, case: ShownCase | None) -> str:
    return _TEMPLATES.get_template("bug.md.j2").render(
        bug=bug,
        case=case,
        status=_status(bug),
        passes=Markdown.joined(", ", map(Markdown.code, bug.passes)),
        versions=_versions(bug, case),
        ours_to_report=bug.status not in ("limitation", "wont-fix"),
    )


def _index(named: Mapping[str, Bug]) -> str:
    ordered = sorted(
        ((_file(name), bug) for name, bug in named.items()), key=lambda one: (tuple(one[1].passes[:1]), one[1].title)
    )
    passes = sorted({name for _, bug in ordered for name in bug.passes}, key=str.lower)
    severities = [(one, [pair for pair in ordered if pair[1].severity == one]) for one in (*SEVERITIES, "")]
    return _TEMPLATES.get_template("index.md.j2").render(
        count=len(named),
        statuses=Counter(bug.status for bug in named.values()),
        by_severity=[(one or "severity not known", found) for one, found in severities if found],
        by_pass=[(name, [pair for pair in ordered if name in pair[1].passes]) for name in passes],
    )


def _status(bug: Bug) -> Markdown:
    return Markdown.of("fixed in {}", bug.fixed_in) if bug.fixed_in else Markdown.of("{}", bug.status)


def _versions(bug: Bug, case: ShownCase | None) -> Markdown:
    """What is known of each version: the outcomes of the case's script, else the versions that it was seen on."""
    of = Markdown.of
    if case is not None and case.outcomes:
        return Markdown.joined(", ", (of("{} {}", version, outcome) for version, outcome in case.outcomes))
    return Markdown.joined(", ", (of("{}", version) for version in bug.versions)) or of("not known")


def _shown(folder: Path, to_cases: str) -> ShownCase:
    stored = read_case(folder)
    difference = stored.difference
    if difference is None:
        difference = difference_before_fields(_text(folder / "README.md"), issue="")
    calls = (*stored.case.setup, *stored.case.passes)
    return ShownCase(
        module=_program(stored.case.module.script or ""),
        sequence=Markdown.joined(" ; ", (Markdown.code(call) for call in calls)),
        symptom=stored.symptom,
        message=stored.message,
        difference=difference,
        place="/".join((to_cases, folder.name)),
        outcomes=tuple((version, str(outcome)) for version, outcome in stored.expected),
    )


def _text(path: Path) -> str:
    return read_regular(path, MOST_TEXT).decode("utf-8", "replace")


def _program(script: str) -> str:
    """A script with the imports that it needs, and without the comments that the printer writes."""
    common = re.compile(r"(?:from|import) |# from |# Metadata omitted")
    text = "\n".join(line for line in script.splitlines() if not common.match(line)).strip("\n")
    try:
        late = ("from __future__ import annotations",) if needs_late_annotations(text) else ()
        return "\n\n".join((*late, imports_for(text, plain=True), text))
    except SyntaxError:  # It is shown, and not run.
        return text


def _prose(text: str) -> Markdown:
    """A text with code between backticks; with an odd number of them it is only text."""
    parts = text.split("`")
    if text.count("`") & 1:
        return Markdown.escaped(text)
    write = itertools.cycle((_between, Markdown.code))
    return Markdown.joined("", (one(part) for one, part in zip(write, parts, strict=False)))


def _between(text: str) -> Markdown:
    """A piece of a paragraph, whose blanks at its ends separate it from code."""
    left = Markdown(" " if text[:1].isspace() else "")
    right = Markdown(" " if text.strip() and text[-1:].isspace() else "")
    return Markdown.of("{}{}{}", left, text.strip(), right)


def _shown_value(value: object) -> Markdown:
    return value if isinstance(value, Markdown) else Markdown.escaped(value)


_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("corpus", "pages"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - Markdown is written, and `finalize` escapes it
    finalize=_shown_value,
)
_TEMPLATES.filters.update(
    code=Markdown.code,
    fenced=Markdown.fenced,
    issue=Markdown.issue,
    prose=_prose,
    state=lambda bug: Markdown.of(", {}", _status(bug)) if bug.status != "open" else Markdown.of(""),
)


# --- files ----------------------------------------------------------------------------------------------


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Makes the pages of a folder these, and no others: a page of a bug that is gone goes too."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in set(folder.glob("*.md")) - {folder / name for name in texts}:
        stale.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> int:
    registry = read_registry(SHIPPED)
    write(PAGES, pages(of_registry(registry), SHIPPED.parent / CASES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
