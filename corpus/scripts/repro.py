"""Writes `repro.py`: one file that imports tvm and numpy and shows one bug to readers who have never seen passfuzz.

Exit status of the script: 1 and one line of why when the bug is there, 0 when it is gone, 2 when this TVM cannot run
it. It is read from top to bottom: the module, the pass, the check (`corpus.scripts.repro_body`). What is checked is in
`oracles.scripts`, one template for each oracle; what is around it in the templates of `corpus/frames`. No TVM is
imported here.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from corpus.finding import Finding
from corpus.frames import FRAMES
from corpus.scripts.poison_fill import FILLS, Fill
from corpus.scripts.repro_body import (
    Manner,
    body_of,
    closes_descriptors,
    module_text,
    phase_left,
    stands_in_the_pipeline,
)
from corpus.scripts.repro_imports import imports_for, needs_late_annotations
from corpus.scripts.syntax import syntax_of
from corpus.store import StoredCase
from generators.targets import DEFAULT, TARGETS
from oracles.builds.needs import row_of
from oracles.evidence import NotANumber, ReferenceTrap
from oracles.scripts import Script, script_for
from oracles.verdict import BUILD, DOES_NOT_BUILD


def builds_kernels(found: StoredCase | Finding) -> bool:
    """Whether the script of a case builds kernels, and runs them where they build."""
    return TARGETS[found.case.target].threads and (bool(found.expectations) or found.oracle == BUILD)


def runs_kernels(found: StoredCase) -> bool:
    """Whether the script of a case runs kernels, for which it needs a device: not where they do not build."""
    return builds_kernels(found) and found.symptom != DOES_NOT_BUILD


def shown_by_script(found: StoredCase | Finding) -> bool:
    """Whether the script shows its bug where it was found: one with kernels does where a device has shown the bug. What
    it does not show, `passfuzz check` does by the reference."""
    if found.setting.by_reference:
        return False
    return not builds_kernels(found) or (found.oracle == BUILD and row_of(found.case.target).on_device)


def repro_text(stored: StoredCase, single: bool = False) -> str:
    """The text of `repro.py` for a case. KeyError when its target has no constructor.

    Large arrays are read from the `inputs.npz` next to the script, and a module that TVMScript cannot say from
    `module.json`. A single script holds the arrays itself, and reads such a module from the file of its own name with
    `.json` after it. The user's file of passes is carried along where it stands alone (`corpus.scripts.loaded_file`).
    """
    script = script_of(stored)
    body = _with_target(stored, script, Manner(single))
    return FRAMES.get_template("script.py.j2").render(
        title=title_of(stored),
        script=script,
        late_annotations=needs_late_annotations(module_text(stored, single)[0]),
        fill=fill_of(stored),
        kernels=builds_kernels(stored),
        closes=closes_descriptors(stored),
        imports=imports_for(body),
        body=body.rstrip("\n"),
    )


def plain_text(stored: StoredCase, verified_by: str = "", call: str = "") -> str:
    """The script for an issue: imports, the module, the passes and the call that fails, as TVM's developers write it.

    Python's or TVM's own traceback, a signal or a failed assertion shows the bug; there is no exit status, no child
    and no file beside it, but for a module that TVMScript cannot say (`module.json`) and arrays of thousands.
    verified_by: a call of TVM's verifier on `after`, the module that the last pass gives, where that shows the bug.
    call: a line over `Module`, as of an official pipeline, that shows the bug instead of the passes and the check.
    KeyError when its target has no constructor.
    """
    if stored.symptom == DOES_NOT_BUILD:
        stored = replace(stored, expectations=())
    script = script_of(stored)
    body = _with_target(stored, script, Manner(True, True, verified_by if script.verified else "", call))
    text = FRAMES.get_template("plain.py.j2").render(
        late_annotations=needs_late_annotations(module_text(stored, True)[0]),
        imports=imports_for(body, plain=True),
        body=body.strip("\n"),
    )
    return _one_blank_line(text)


def _one_blank_line(text: str) -> str:
    """The script without a blank line after another, but for those inside of its strings."""
    strings = [node for node in ast.walk(syntax_of(text)) if isinstance(node, (ast.Constant, ast.JoinedStr))]
    inside = {line for node in strings for line in range(node.lineno, node.end_lineno or node.lineno)}
    kept: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line or number in inside or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept)


def fill_of(stored: StoredCase) -> Fill | None:
    """What uninitialised memory must hold for the script to show its bug; None where it does not matter."""
    return stored.setting.fill if _reads_uninitialised(stored, script_of(stored)) else None


def _with_target(stored: StoredCase, script: Script, manner: Manner) -> str:
    """The body with a name for the target where it is needed more than once."""
    maker = TARGETS[stored.case.target].source
    body = body_of(stored, script, manner, "TARGET", maker)
    return body_of(stored, script, manner, maker, None).text if body.uses_of_target == 1 else body.text


def json_beside(script: Path) -> Path:
    """Where a script of its own reads the module that TVMScript cannot say."""
    return script.with_name(f"{script.name}.json")


def title_of(stored: StoredCase) -> str:
    """The title of a case as a docstring can hold it."""
    return " ".join(stored.title.replace("\\", "/").replace('"', "'").split())


def fills_for(stored: StoredCase) -> tuple[Fill, ...]:
    """What uninitialised memory may hold in the script of a case, in the order to try; one where it does not matter.

    What PrimFuncs allocate is filled after the passes only, and where an exception is not the bug.
    """
    script = script_of(stored)
    if not (_reads_uninitialised(stored, script) and shown_by_script(stored)):
        return FILLS[:1]
    fixed = script.exception_is_the_bug or stands_in_the_pipeline(stored) or TARGETS[stored.case.target].threads
    return tuple(fill for fill in FILLS if not (fill.scratch and fixed))


def can_be_unoptimised(stored: StoredCase) -> bool:
    """Whether LLVM may hide from a script what was seen: campaigns build most cases without its optimisation."""
    script = script_of(stored)
    return TARGETS[stored.case.target].kind == DEFAULT and (script.runs or stored.oracle == BUILD)


def can_go_on(stored: StoredCase) -> bool:
    """Whether a build from the front of the pipeline may hide what was seen: passes of it have been applied."""
    builds = script_of(stored).runs or stored.oracle == BUILD
    return builds and shown_by_script(stored) and phase_left(stored) is not None


def can_be_by_reference(stored: StoredCase) -> bool:
    """Whether the reference has something to say of a case whose script TVM does not build."""
    return script_of(stored).runs and stored.oracle != BUILD


def script_of(stored: StoredCase) -> Script:
    """The script that shows a case. Raises MissingScript."""
    threads = TARGETS[stored.case.target].threads
    known = bool(stored.expectations)
    return script_for(stored.oracle, stored.evidence, expectations=known, on_device=threads)


def _reads_uninitialised(stored: StoredCase, script: Script) -> bool:
    """Whether a result may hold uninitialised memory: the reference calls it NaN, a run gives what was there."""
    match stored.evidence:
        case ReferenceTrap(kind="uninitialised") | NotANumber():
            return script.runs
        case _:
            return False
