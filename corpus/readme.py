"""Writes the `README.md` of a case folder: a bug report that is ready to file. No TVM is imported here."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.escapes import Markdown
from corpus.repro import runs_kernels, shown_by_script
from corpus.store import StoredCase

_KERNELS = Markdown("The script runs kernels, for which it needs a CUDA device and nvcc (2 without them).")
_WITHOUT_A_DEVICE = Markdown.of(
    "{} `passfuzz check` on this folder needs none, and has shown the same in a fresh process.", _KERNELS
)
NOTHING = Markdown("")


def readme_text(
    stored: StoredCase,
    repro: str,
    tvm: str,
    count: int | None = None,
    difference: str = "",
    fault: Sequence[str] = (),
    promise: str = "",
    official: str = "",
) -> str:
    """The report: what, where, since when, and the smallest script. `tvm` is the version that it was seen on.

    difference: what the pass did to the functions, as a unified diff. fault: lines on whose fault it is.
    promise: what the oracle's row says that must hold; "" where there is none. official: the call that shows it by an
    official pipeline; "" where none is known.
    """
    of, code = Markdown.of, Markdown.code
    parts = (
        of("# {}\n\n", stored.title),
        of("{}\n\n", stored.message) if stored.message else NOTHING,
        _facts(stored, tvm, count, official),
        of("\n## Expected\n\n{}.\n", "".join((promise[0].upper(), promise[1:]))) if promise else NOTHING,
        of("\n## Actual\n\n{}: {}\n", stored.symptom, stored.message or stored.title),
        of("\n## What {} did\n\n{}\n", code(stored.culprit), Markdown.fenced(difference, "diff"))
        if difference
        else NOTHING,
        of("\n## Whose fault\n\n{}", Markdown.joined("", (of("- {}\n", line) for line in fault))) if fault else NOTHING,
        _versions(stored),
        of("\n## To reproduce\n\nExit status 1: the bug is there. 0: it is gone. 2: this TVM cannot run it.\n"),
        of("{}\n{}\n", _of_kernels(stored), Markdown.fenced(repro, "python")),
    )
    return Markdown.joined("", parts)


def seed_text(title: str, test: str, name: str) -> str:
    """The report of a seed that `passfuzz harvest` keeps: a module that a test gives to the pass `name`."""
    return Markdown.of(
        "# {}\n\nA seed: a module that {} gives to {}. It is well-formed, and the reference interprets it on the "
        "inputs in\n`case.json`. `passfuzz check` judges it under that pass.\n",
        title,
        Markdown.code(test or "a test"),
        Markdown.code(name),
    )


def _of_kernels(stored: StoredCase) -> Markdown:
    """A line on what a script needs that runs kernels; none for others."""
    if not runs_kernels(stored):
        return NOTHING
    return Markdown.of("{}\n", _KERNELS if shown_by_script(stored) else _WITHOUT_A_DEVICE)


def _facts(stored: StoredCase, tvm: str, count: int | None, official: str) -> Markdown:
    of, code = Markdown.of, Markdown.code
    passes = Markdown.joined(" ; ", (code(str(call)) for call in stored.case.passes))
    setup = Markdown.joined(" ; ", (code(str(call)) for call in stored.case.setup))
    rows = [
        ("pass", code(stored.culprit)),
        ("sequence", of("{} ; {}", setup, passes) if setup else passes),
        ("official pipeline", of("{} shows it too", code(official)) if official else NOTHING),
        ("target", of("{}", stored.case.target)),
        ("TVM", of("{}", tvm)),
        ("found by", of("oracle {}{}", code(stored.oracle), of(", seen {} times", count) if count else NOTHING)),
    ]
    if stored.issue:
        rows.append(("issue", Markdown.issue(stored.issue)))
    origin = stored.case.origin
    if origin.seed is not None:
        start = of(", which starts from {}", origin.file) if origin.file else NOTHING
        rows.append(("drawn from", of("seed {}, case {}{}", origin.seed, origin.index, start)))
    return Markdown.joined("", (of("- {}: {}\n", name, value) for name, value in rows if value))


def _versions(stored: StoredCase) -> Markdown:
    if not stored.expected:
        return NOTHING
    rows = (Markdown.of("| {} | {} |\n", prefix, outcome) for prefix, outcome in stored.expected)
    return Markdown.of("\n## Versions\n\n| TVM | |\n|---|---|\n{}", Markdown.joined("", rows))
