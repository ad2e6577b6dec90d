"""Writes the `README.md` of a case folder: a bug report that is ready to file. No TVM is imported here."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.causes.tracebacks import crashing_function, of_runtime, raised_text
from corpus.escapes import Markdown, one_line
from corpus.rate import ReproRate
from corpus.scripts.repro import runs_kernels, script_of, shown_by_script
from corpus.store import StoredCase
from corpus.wording import is_native, subject_of, undefined
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.evidence import ReferenceTrap, SpoiltProcess
from oracles.scripts import MissingScript, Script
from oracles.verdict import CRASH, DOES_NOT_BUILD, DOES_NOT_RUN, HANG, WRONG_RESULT

_KERNELS = Markdown("The script runs kernels, for which it needs a CUDA device and nvcc (2 without them).")
_WITHOUT_A_DEVICE = Markdown.of(
    "{} `passfuzz check` on this folder needs none, and has shown the same in a fresh process.", _KERNELS
)
_NOT_BUILT = Markdown.of(
    "TVM does not build or run what comes of it, so that the script ends with 2. {} on this folder asks the "
    "reference interpreter, and has shown the same in a fresh process.",
    Markdown.code("passfuzz check"),
)
NOTHING = Markdown("")
STATUSES = Markdown("Exit status 1: the bug is there. 0: it is gone. 2: this TVM cannot run it.\n")
ERRORS = (CRASH, DOES_NOT_BUILD, DOES_NOT_RUN)
"""Symptoms that TVM tells of itself."""
LONGEST_TEXT = 8_000
"""Characters of what TVM raised that are shown; its messages may quote whole modules."""
LONGEST_OUTPUTS = 1_200
"""Characters of arrays."""
CUT = "\n[...]\n"


def readme_text(
    stored: StoredCase,
    repro: str,
    tvm: str,
    difference: str = "",
    fault: Sequence[str] = (),
    promise: str = "",
    official: str = "",
    detail: str = "",
) -> str:
    """The report: what, where, since when, and the smallest script. `tvm` is the version that it was seen on.

    difference: what the pass did to the functions, as a unified diff. fault: lines on whose fault it is.
    promise: what the oracle's row says that must hold; "" where there is none. detail: TVM's traceback, or what a
    crashed process has printed; "" where there is none. official: the call that shows it by an official pipeline; ""
    where none is known.
    """
    of, code = Markdown.of, Markdown.code
    parts = (
        of("# {}\n\n", stored.title),
        _facts(stored, tvm, official),
        expected(stored, promise),
        of("\n## Actual\n\n{}", actual(stored, detail)),
        of("\n## What {} did\n\n{}\n", code(stored.culprit), Markdown.fenced(difference, "diff"))
        if difference
        else NOTHING,
        of("\n## Whose fault\n\n{}", Markdown.joined("", (of("- {}\n", line) for line in fault))) if fault else NOTHING,
        _versions(stored),
        of("\n## To reproduce\n\n{}", STATUSES),
        of("{}\n", by_chance(stored.rate)) if stored.rate else NOTHING,
        of("{}\n{}\n", _of_running(stored), Markdown.fenced(repro, "python")),
    )
    return Markdown.joined("", parts)


def by_chance(rate: ReproRate) -> Markdown:
    """A sentence on how often the script of a case shows a failure that it does not show each time."""
    return Markdown.of("It depends on chance: the script showed it in {} runs.", rate)


def expected(stored: StoredCase, promise: str) -> Markdown:
    """The part on what should come: what a wrong call should give, or what the pass or the build owes. promise: what
    the oracle's row says, where there is nothing more to say."""
    of, culprit = Markdown.of, Markdown.code(subject_of(stored))
    if stored.symptom == WRONG_RESULT and stored.expectations:
        text = of("{}\n", Markdown.fenced(shortened(_outputs(stored), LONGEST_OUTPUTS), "text"))
    elif stored.oracle in CPU_BUILDS and promise:
        text = of("{}.\n", "".join((promise[0].upper(), promise[1:])))
    elif stored.symptom == DOES_NOT_BUILD:
        text = of("{} compiles this module.\n", Markdown.code("tvm.compile"))
    elif stored.symptom == DOES_NOT_RUN:
        text = of("The module that {} makes runs.\n", Markdown.code("tvm.compile"))
    elif isinstance(stored.evidence, SpoiltProcess):
        text = of("{} leaves its process as it was.\n", culprit)
    elif stored.symptom == CRASH:
        text = of("{} takes this module, or says what it does not take and why.\n", culprit)
    elif stored.symptom == HANG:
        text = of("{} ends.\n", culprit)
    elif _is_verified(stored):
        text = of("{} gives a well-formed module for a well-formed one.\n", culprit)
    elif isinstance(stored.evidence, ReferenceTrap):
        text = of("{} gives a module that computes what the one before it does.\n", culprit)
    elif promise:
        text = of("{}.\n", "".join((promise[0].upper(), promise[1:])))
    else:
        return NOTHING
    return of("\n## Expected\n\n{}", text)


def _is_verified(stored: StoredCase) -> bool:
    """Whether what fails is a matter of TVM's verifier."""
    script = _script_of(stored)
    return script is not None and script.verified


def _applies_the_pass(stored: StoredCase) -> bool:
    """Whether the pass itself is what fails, and no build."""
    script = _script_of(stored)
    return script is None or script.applies_the_pass


def _script_of(stored: StoredCase) -> Script | None:
    """The script of a case; None where there is none, as a case of another user may name any oracle."""
    try:
        return script_of(stored)
    except MissingScript:
        return None


def _outputs(stored: StoredCase) -> str:
    """What the reference gives for each entry call, by its function."""
    lines = []
    for expectation in stored.expectations:
        function = stored.case.calls[expectation.call].function
        lines += [": ".join((function, " ".join(repr(output).split()))) for output in expectation.outputs]
    return "\n".join(lines)


def actual(stored: StoredCase, detail: str) -> Markdown:
    """What happens: the whole text of what TVM raised, the function in which it crashed, or what is wrong."""
    if is_native(stored, detail):
        return _crash(stored, detail)
    if isinstance(stored.evidence, ReferenceTrap):
        culprit = Markdown.code(subject_of(stored))
        undone = Markdown.of("{} {}: {}.\n\n{}", culprit, undefined(stored.evidence.kind), stored.message, _STOPS)
        script = _script_of(stored)
        return Markdown.joined(
            "", (undone, _REFUSED if script is not None and script.exception_is_the_bug else NOTHING)
        )
    said = raised_text(detail)
    if stored.symptom not in ERRORS or not said:
        message = stored.message or stored.title
        told = message if stored.symptom in message else ": ".join((stored.symptom, message))
        where = _where(stored, detail) if not said else ""
        return Markdown.of("{}\n{}", told, Markdown.of("\n{}\n", Markdown.fenced(where, "text")) if where else NOTHING)
    return Markdown.of("{}\n", Markdown.fenced(shortened(said, LONGEST_TEXT), "text"))


_REFUSED = Markdown("TVM may refuse to build or to run the module, each with an error of its own.\n")
_STOPS = Markdown(
    "The reference interpreter, in NumPy and without code of TVM, stops there. It runs the module before the pass to\n"
    "its end.\n"
)


def _where(stored: StoredCase, detail: str) -> str:
    """What a verdict says beyond its message: names, and places in the module. Nothing of wrong numbers."""
    more = detail.strip()
    message = one_line(stored.message or stored.title)
    known = one_line(more).endswith((message, one_line(stored.title))) or stored.symptom == WRONG_RESULT
    return "" if known else shortened(more, LONGEST_OUTPUTS)


def _crash(stored: StoredCase, detail: str) -> Markdown:
    function = crashing_function(detail)
    if isinstance(stored.evidence, SpoiltProcess):
        return Markdown.of("{}: {}.\n", Markdown.code(subject_of(stored)), stored.message)
    if not function:
        when = NOTHING if _applies_the_pass(stored) else Markdown(" while the module is built or runs")
        return Markdown.of("The process is killed{}: {}.\n", when, stored.message)
    when = (
        Markdown("when the built module runs") if of_runtime(function) else Markdown("while the pass or the build runs")
    )
    return Markdown.of("The process crashes {}, in {}.\n", when, Markdown.code(function))


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and its end where it has more than `most` characters."""
    return text if len(text) <= most else "".join((text[: most // 2], CUT, text[-most // 2 :]))


def seed_text(title: str, test: str, name: str) -> str:
    """The report of a seed that `passfuzz harvest` keeps: a module that a test gives to the pass `name`."""
    return Markdown.of(
        "# {}\n\nA seed: a module that {} gives to {}. It is well-formed, and the reference interprets it on the "
        "inputs in\n`case.json`. `passfuzz check` judges it under that pass.\n",
        title,
        Markdown.code(test or "a test"),
        Markdown.code(name),
    )


def _of_running(stored: StoredCase) -> Markdown:
    """A line on what a script needs that runs kernels, or on what runs what TVM does not build; none for others."""
    if stored.setting.by_reference:
        return Markdown.of("{}\n", _NOT_BUILT)
    if not runs_kernels(stored):
        return NOTHING
    return Markdown.of("{}\n", _KERNELS if shown_by_script(stored) else _WITHOUT_A_DEVICE)


def _facts(stored: StoredCase, tvm: str, official: str) -> Markdown:
    of, code = Markdown.of, Markdown.code
    passes = Markdown.joined(" ; ", (code(str(call)) for call in stored.case.passes if call.source))
    setup = Markdown.joined(" ; ", (code(str(call)) for call in stored.case.setup))
    rows = [
        ("pass", code(stored.culprit)),
        ("sequence", passes if not setup else of("{} ; {}", setup, passes)),
        ("official pipeline", of("{} shows it too", code(official)) if official else NOTHING),
        ("target", of("{}", stored.case.target)),
        ("TVM", of("{}", tvm)),
        ("found by", of("oracle {}", code(stored.oracle))),
    ]
    if stored.issue:
        rows.append(("issue", Markdown.issue(stored.issue)))
    origin = stored.case.origin
    if origin.seed is not None:
        start = of(", which starts from {}", origin.file) if origin.file else NOTHING
        rows.append(("drawn from", of("seed {}, case {}{}", origin.seed, origin.index, start)))
    elif origin.file:
        rows.append(("seen in", code(origin.file)))
    return Markdown.joined("", (of("- {}: {}\n", name, value) for name, value in rows if value))


def _versions(stored: StoredCase) -> Markdown:
    if len(stored.expected) < 2:  # The facts say it.
        return NOTHING
    rows = (Markdown.of("| {} | {} |\n", prefix, outcome) for prefix, outcome in stored.expected)
    return Markdown.of("\n## Versions\n\n| TVM | |\n|---|---|\n{}", Markdown.joined("", rows))
