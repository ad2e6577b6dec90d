"""Writes `issue.md`: a finding as an issue that pastes into TVM's tracker as it stands. No TVM is imported here.

It follows LLVM's guidelines for issues that a fuzzer has found (https://discourse.llvm.org/t/82556): they say that a
fuzzer found them, hold a minimised script and how to run it, name the version, and do not repeat what is known. The
script has no harness (`corpus.scripts.repro.plain_text`); `repro.py` beside it is what CI runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.causes.tracebacks import (
    backtrace_text,
    crashing_function,
    link_to,
    raised_text,
    raising_frame,
    traceback_text,
)
from corpus.escapes import Markdown, one_line
from corpus.finding import Finding
from corpus.readme import ERRORS, LONGEST_OUTPUTS, NOTHING, actual, by_chance, expected, shortened
from corpus.scripts.repro import fill_of, plain_text, runs_kernels, script_of
from corpus.store import StoredCase
from corpus.wording import is_native, severity_line, title_of_failure
from generators.case import Tier
from oracles.evidence import Hung, OutOfMemory, ReferenceTrap
from oracles.tvm_frames import Frame
from oracles.verdict import CRASH, DOES_NOT_BUILD, WRONG_RESULT

Similar = tuple[str, str]
"""The title of another finding or of a known cause, and a link or a path; the latter "" where there is none."""
LONGEST_TRACEBACK = 16_000
LONGEST_CHANGE = 6_000
"""Characters. GitHub takes 65,536 in an issue."""
OUT_OF_TIME = "The time for that ran out, so not everything in the script may matter."
WHOLE = "Taken apart and built anew, the module does not fail, or TVM does not take it: functions are left whole."
MOST_LINES = 40
"""Lines of what an oracle says besides the script."""


def issue_text(
    finding: Finding,
    stored: StoredCase,
    similar: Sequence[Similar] = (),
    script: str | None = None,
    tier: Tier | None = None,
) -> str:
    """The issue, with the title as its first line: plain text, as GitHub shows titles, and indented, so that none of it
    is Markdown where the file is read.

    stored: the case of the finding, as it is kept. similar: findings and known causes of the same cause or pass.
    script: instead of the plain one, for a finding that only a test shows. tier: the best of all sightings of its
    cause, None for its own.
    """
    of = Markdown.of
    title = title_of_failure(stored, finding.verdict.detail, finding.space)
    failed = finding.verdict
    parts = (
        of("{}\n\n", Markdown.indented(title)),
        of("{}\n", severity_line(failed.symptom, failed.evidence, tier or finding.tier)),
        of("Found by a fuzzer (passfuzz)"),
        of(" and reduced.") if finding.reduced else of("."),
        _how_far(finding),
        of("\n"),
        _to_reproduce(finding, stored, script),
        expected(stored, finding.promise),
        of("\n## Actual\n\n{}", _actual(finding, stored)),
        _change(finding, stored),
        _whose_fault(finding.fault if finding.verdict.symptom == WRONG_RESULT else ()),
        _environment(finding),
        _similar(similar),
    )
    return Markdown.joined("", parts)


def _how_far(finding: Finding) -> Markdown:
    """What a reader must know of a case that may hold more than it needs."""
    stats = finding.reduced
    if stats is None or not (stats.out_of_time or stats.whole):
        return NOTHING
    return Markdown.of(" {}", WHOLE if stats.whole else OUT_OF_TIME)


def _to_reproduce(finding: Finding, stored: StoredCase, script: str | None) -> Markdown:
    of = Markdown.of
    # Where an official pipeline dies as the pass does, its call is the script. That of a case without passes has it.
    dies = finding.verdict.symptom in (CRASH, DOES_NOT_BUILD) and bool(stored.case.setup or stored.case.passes)
    call = finding.official if dies else ""
    text = plain_text(stored, finding.aftermath.verified_by, call) if script is None else script
    json = stored.case.module.json is not None
    return Markdown.joined(
        "",
        (
            of("\n## To reproduce\n\n"),
            of("{}\n\n", by_chance(stored.rate)) if stored.rate else NOTHING,
            of("{}", _BESIDE) if json else NOTHING,
            of("{}\n\n{}\n\n", _AS_PRINTED, Markdown.fenced(_bare(stored.case.module.script), "python"))
            if json
            else NOTHING,
            _how_to_run(stored),
            of("{}\n", Markdown.fenced(text, "python")),
            of("\n{} shows it too.\n", Markdown.code(finding.official)) if finding.official and not call else NOTHING,
        ),
    )


_BESIDE = Markdown(
    "The script reads the module from the attached `module.json`: TVM's parser does not read back the text\n"
)
_AS_PRINTED = Markdown("that TVM prints of it, as it is here:")


def _bare(script: str) -> str:
    """A printed module without the imports that the printer writes as comments."""
    return "\n".join(line for line in script.splitlines() if not line.startswith("#")).strip("\n")


def _how_to_run(stored: StoredCase) -> Markdown:
    of = Markdown.of
    match stored.evidence:
        case Hung():
            return of("The script does not end.\n\n")
        case OutOfMemory():
            return of("The script takes all memory: run it after {}.\n\n", Markdown.code("ulimit -v 12000000"))
        case _:
            pass
    fill = fill_of(stored)
    if fill is not None:
        setting = "=".join(("MALLOC_PERTURB_", str(fill.perturb)))
        return of("Run it with {} in the environment: uninitialised memory then holds {}.\n\n",
                  Markdown.code(setting), fill.meaning)  # fmt: skip
    if stored.setting.by_reference:
        return of("TVM does not build or run what comes of it: the numbers are those of an interpreter of its own.\n\n")
    return of("It needs a CUDA device and nvcc.\n\n") if runs_kernels(stored) else NOTHING


def _actual(finding: Finding, stored: StoredCase) -> Markdown:
    """What happens: TVM's own traceback, what its verifier says, or what the oracle found."""
    of, verdict = Markdown.of, finding.verdict
    told, detail = actual(stored, verdict.detail), verdict.detail
    complaint = finding.aftermath.complaint if script_of(stored).verified else ""
    if complaint:
        verifier = Markdown.code(finding.aftermath.verified_by)
        # The verifier stops at the first of its complaints, which may be about something else.
        first = NOTHING if one_line(verdict.message) in one_line(complaint) else of("{}\n", told)
        return of("{}{} says:\n\n{}\n", first, verifier, Markdown.fenced(_few_lines(complaint), "text"))
    if is_native(stored, detail):
        return of("{}\n{}\n", told, _block(backtrace_text(detail))) if crashing_function(detail) else told
    if raised_text(detail):
        return of("{}{}\n", _raised_at(finding), _block(traceback_text(detail)))
    if verdict.symptom == WRONG_RESULT and verdict.difference and finding.aftermath.outputs:
        outputs = shortened("\n".join(finding.aftermath.outputs), LONGEST_OUTPUTS)
        return of("{}\n{}\n", told, Markdown.fenced(outputs, "text"))
    if not isinstance(stored.evidence, ReferenceTrap) or detail in ("", verdict.message):
        return told
    return of("{}\n{}\n", told, Markdown.fenced(_few_lines(detail), "text"))  # In which call it was.


def _block(traceback: str) -> Markdown:
    return Markdown.fenced(shortened(traceback, LONGEST_TRACEBACK), "text")


def _few_lines(text: str) -> str:
    lines = text.strip("\n").splitlines()
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "..."])


def _raised_at(finding: Finding) -> Markdown:
    frame = raising_frame(finding.verdict.detail)
    if frame is None:
        return NOTHING
    return Markdown.of("Raised at {}, in {}:\n\n", _place(frame, finding.tvm), Markdown.code(frame.name))


def _place(frame: Frame, tvm: str) -> Markdown:
    return Markdown.link(":".join((frame.source, str(frame.line))), link_to(frame, tvm))


def change_of(finding: Finding, stored: StoredCase) -> str:
    """What the culprit did to the functions, as a unified diff; "" where that is not what is wrong."""
    return finding.verdict.difference or (finding.aftermath.change if _of_the_pass(finding, stored) else "")


def _change(finding: Finding, stored: StoredCase) -> Markdown:
    change = change_of(finding, stored)
    if not change:
        return NOTHING
    shown = Markdown.fenced(shortened(change, LONGEST_CHANGE), "diff")
    again = Markdown(" when it was applied again") if script_of(stored).again else NOTHING
    return Markdown.of("\n## What {} did{}\n\n{}\n", Markdown.code(stored.culprit), again, shown)


def _of_the_pass(finding: Finding, stored: StoredCase) -> bool:
    """Whether what the last pass did is what is wrong, and can be seen in the text of its functions."""
    return (
        script_of(stored).judges == "pass" and finding.verdict.symptom not in ERRORS and bool(finding.aftermath.change)
    )


def _whose_fault(fault: Sequence[str]) -> Markdown:
    if not fault:
        return NOTHING
    lines = Markdown.joined("", (Markdown.of("- {}\n", line) for line in fault))
    return Markdown.of("\n## Who agrees with whom\n\n{}\n{}", _REFERENCE, lines)


_REFERENCE = Markdown("The reference is an interpreter in NumPy that shares no code with TVM.\n")


def _environment(finding: Finding) -> Markdown:
    rows = finding.environment or (("TVM", finding.tvm),)
    lines = Markdown.joined("", (Markdown.of("- {}: {}\n", name, value) for name, value in rows))
    return Markdown.of("\n## Environment\n\n{}", lines)


def _similar(similar: Sequence[Similar]) -> Markdown:
    if not similar:
        return NOTHING
    lines = Markdown.joined("", (Markdown.of("- {}\n", _other(title, where)) for title, where in similar))
    return Markdown.of("\n## Similar\n\n{}", lines)


_ADDRESS = re.compile(r"https://", re.ASCII)


def _other(title: str, where: str) -> Markdown:
    if _ADDRESS.match(where):
        return Markdown.link(title, where)
    return Markdown.of("{}: {}", title, Markdown.code(where)) if where else Markdown.of("{}", title)
