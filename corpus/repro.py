"""Writes `repro.py`: one file that imports tvm and numpy and shows one bug to readers who have never seen passfuzz.

Exit status of the script: 1 and one line of why when the bug is there, 0 when it is gone, 2 when this TVM cannot run
it. It is read from top to bottom: the module, the pass, the check. What is checked is in `oracles.scripts`, one
template for each oracle; what is around it in the templates of `corpus/frames`. No TVM is imported here.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpus.finding import Finding
from corpus.frames import FRAMES
from corpus.loaded_file import loaded_file
from corpus.module_text import without_imports
from corpus.poison_fill import FILLS, Fill
from corpus.repro_calls import Calls
from corpus.repro_imports import imports_for, needs_late_annotations
from corpus.repro_passes import PassLines, folded
from corpus.script_losses import with_helper
from corpus.store import StoredCase
from generators.case import Case
from generators.passes.row import Phase
from generators.passes.table import PASSES
from generators.targets import DEFAULT, TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.builds.needs import row_of
from oracles.evidence import Hung, NotANumber, OutOfMemory, ReferenceTrap
from oracles.scripts import Script, script_for
from oracles.verdict import BUILD, CRASH, DOES_NOT_BUILD, DOES_NOT_RUN, HANG

DEADLINE_S, HANG_S = 120, 15
"""Seconds after which a script ends itself; those that show a hang need not take as long as others may."""
_THERE = frozenset({"tvm", "tvm_ffi", "relax", "tirx", "s_tir", "dpl", "np", "loaded"})
"""The names of constructors that are not in the loaded file: those of the pass table, and the file itself."""
_FROM_HERE = "status[0] = 1  # From here on, an exception is the bug."


def runs_kernels(found: StoredCase | Finding) -> bool:
    """Whether the script of a case runs kernels, for which it needs a device."""
    return TARGETS[found.case.target].threads and (bool(found.expectations) or found.oracle == BUILD)


def shown_by_script(found: StoredCase | Finding) -> bool:
    """Whether the script shows its bug where it was found: one with kernels does where a device has shown the bug."""
    return not runs_kernels(found) or (found.oracle == BUILD and row_of(found.case.target).on_device)


def repro_text(stored: StoredCase, single: bool = False) -> str:
    """The text of `repro.py` for a case. KeyError when its target has no constructor.

    Large arrays are read from the `inputs.npz` next to the script, and a module that TVMScript cannot say from
    `module.json`. A single script holds the arrays itself, and reads such a module from the file of its own name with
    `.json` after it. The user's file of passes is carried along where it stands alone (`corpus.loaded_file`).
    """
    script = script_of(stored)
    body = _with_target(stored, script, Manner(single))
    return FRAMES.get_template("script.py.j2").render(
        title=title_of(stored),
        script=script,
        late_annotations=needs_late_annotations(_module(stored, single)[0]),
        fill=fill_of(stored),
        imports=imports_for(body),
        body=body.rstrip("\n"),
    )


def plain_text(stored: StoredCase, verified_by: str = "", call: str = "") -> str:
    """The script for an issue: imports, the module, the passes and the call that fails, as TVM's developers write it.

    Python's or TVM's own traceback, a signal or a failed assertion shows the bug; there is no exit status, no child
    and no file beside it, but for a module that TVMScript cannot say (`module.json`) and arrays of thousands.
    verified_by: a call of TVM's verifier on `after`, the module that the last pass gives, where that shows the bug.
    call: a line over `Module`, as of an official pipeline, that shows the bug in place of the passes and the check.
    KeyError when its target has no constructor.
    """
    if stored.symptom == DOES_NOT_BUILD:
        stored = replace(stored, expectations=())
    script = script_of(stored)
    body = _with_target(stored, script, Manner(True, True, verified_by if script.verified else "", call))
    text = FRAMES.get_template("plain.py.j2").render(
        late_annotations=needs_late_annotations(_module(stored, True)[0]),
        imports=imports_for(body, plain=True),
        body=body.strip("\n"),
    )
    return re.sub(r"\n{3,}", "\n\n", text)


@dataclass(frozen=True, slots=True)
class Manner:
    """What kind of script is written. single: see `repro_text`; plain, verified_by, call: see `plain_text`."""

    single: bool
    plain: bool = False
    verified_by: str = ""
    call: str = ""


def fill_of(stored: StoredCase) -> Fill | None:
    """What uninitialised memory must hold for the script to show its bug; None where it does not matter."""
    return stored.fill if _reads_uninitialised(stored, script_of(stored)) else None


def _with_target(stored: StoredCase, script: Script, manner: Manner) -> str:
    """The body with a name for the target where it is needed more than once."""
    maker = TARGETS[stored.case.target].source
    body = _body(stored, script, manner, "TARGET", maker)
    return _body(stored, script, manner, maker, None).text if body.uses_of_target == 1 else body.text


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
    fixed = script.exception_is_the_bug or _stands_in_the_pipeline(stored) or TARGETS[stored.case.target].threads
    return tuple(fill for fill in FILLS if not (fill.scratch and fixed))


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


def _stands_in_the_pipeline(stored: StoredCase) -> bool:
    """Whether the passes leave packed functions, which `tvm.compile` does not take. Whoever brings a module so far has
    applied the official TIR pipeline, so that compiling the module from the start shows what its passes do."""
    return any(phase is not None and phase >= Phase.PACKED for phase in _phases_given(stored))


def _phases_given(stored: StoredCase) -> list[Phase | None]:
    """The phases that the passes of the table lead to, those of the setup first."""
    return [PASSES[call.name].place.gives for call in (*stored.case.setup, *stored.case.passes) if call.name in PASSES]


# --- the body -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Body:
    """The part after the imports. uses_of_target: how often it names the target, the naming line not counted."""

    text: str
    uses_of_target: int


@dataclass(slots=True)
class _Noted:
    """An expression that a template may use; it notes whether one did."""

    text: str
    used: bool = False

    def __str__(self) -> str:
        self.used = True
        return self.text


def _body(stored: StoredCase, script: Script, manner: Manner, target: str, maker: str | None) -> _Body:
    """The body with this name of the target; maker: how that is constructed, None where no name is needed."""
    threads = TARGETS[stored.case.target].threads
    compares = not (manner.plain and stored.symptom in (CRASH, HANG, DOES_NOT_RUN))
    calls = Calls(stored, manner.single, manner.plain, compares)
    # A script runs kernels where its entry calls go through a virtual machine, which the text of the calls shows.
    on_device = threads and script.runs and calls.use_machine
    build_target = _Noted("HERE" if on_device else target)
    whole = _stands_in_the_pipeline(stored)
    pipeline = ""
    if whole and any(phase is Phase.GROUPED for phase in _phases_given(stored)):
        pipeline = f", relax_pipeline=relax.get_default_pipeline({build_target.text})"
    compiled = _Noted(f"tvm.compile(mod, {build_target.text}{pipeline})")
    device = "device" if on_device else "tvm.cpu()"
    tensor = "on_device" if on_device else "tensor"
    applying = PassLines(target, stored.case.target != DEFAULT, manner.plain)
    module, name = _module(stored, manner.single, manner.plain)
    lines, given = _applied(stored, script, applying, name)
    case = stored.case
    check = script.text(
        apply=lambda name, given: applying.line(case.passes[-1], name, given).rstrip("\n"),
        under_target=lambda line: applying.under_target(case.passes[-1], f"{line}\n").rstrip("\n"),
        alone=lambda given: applying.alone(case.passes[-1], given).rstrip("\n"),
        folded=folded,
        given=given,
        plain=manner.plain,
        from_here="" if manner.plain else _FROM_HERE,
        calls=lambda built, walled=False: calls.text(str(built), compiled, device, tensor, walled).rstrip("\n"),
        passes=[call.source for call in case.passes],
        needs_target=any(map(applying.wants_target, case.passes)),
        target=target,
        build_target=build_target,
        compiled=compiled,
        device=device,
        evidence=stored.evidence,
        build=CPU_BUILDS.get(stored.oracle),
    )
    if manner.verified_by:
        # The verifier of Relax raises and gives nothing; those of PrimFuncs say whether.
        raises = manner.verified_by.startswith("relax.")
        check = f"{manner.verified_by}\n" if raises else f"assert {manner.verified_by}\n"
    if compiled.used and whole:
        lines = FRAMES.get_template("whole_pipeline.py.j2").render(culprit=stored.culprit, module=name)
    else:
        lines += FRAMES.get_template("scratch.py.j2").render(fill=stored.fill) if stored.fill.scratch else ""
    applied = [call.name for call in (*case.setup, *case.passes)]
    if manner.plain and compiled.used and not whole and stored.culprit in PASSES and stored.culprit not in applied:
        lines += f"# tvm.compile applies {stored.culprit}.\n"
    names: dict[str, Any] = {
        "script": script,
        "loaded": None if case.load is None else loaded_file(Path(case.load)),
        "loaded_names": _loaded_names(case),
        "plain": manner.plain,
        "module": module.rstrip("\n"),
        "once": calls.once(),
        "alarm_s": HANG_S if isinstance(stored.evidence, Hung) else DEADLINE_S,
        "bounds_memory": isinstance(stored.evidence, OutOfMemory),
        "kernels": threads and (build_target.used or compiled.used),
        "on_device": on_device,
        "passes": "" if manner.call else lines,
        "check": f"{manner.call}\n" if manner.call else check,
    }
    frame = FRAMES.get_template("plain_body.py.j2" if manner.plain else "body.py.j2")
    text = frame.render(names, named_target=None)
    uses = text.count(target)
    return _Body(frame.render(names, named_target=maker) if uses else text, uses)


def _loaded_names(case: Case) -> tuple[str, ...]:
    """The names of the loaded file that constructors use."""
    sources = [call.source for call in (*case.setup, *case.passes) if call.name not in PASSES]
    words = (node.id for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(word for word in words if word not in _THERE))


def _module(stored: StoredCase, single: bool, plain: bool = False) -> tuple[str, str]:
    """The text of the module, and the expression for it."""
    module = stored.case.module
    if module.json is not None:
        return FRAMES.get_template("module_json.py.j2").render(single=single, plain=plain), "Module"
    script = without_imports(module.script)
    statements = ast.parse(script).body
    first = min(node.lineno for node in (statements[0], *getattr(statements[0], "decorator_list", ())))
    names = [node.name for node in statements if isinstance(node, ast.ClassDef)]
    # The printer writes its imports as comments above the first statement.
    lines = [line for line in script.splitlines()[first - 1 :] if not (plain and line.lstrip().startswith("#"))]
    return with_helper("\n".join(lines).strip() + "\n"), names[-1]


def _applied(stored: StoredCase, script: Script, applying: PassLines, module: str) -> tuple[str, str]:
    """Set-up and passes, and the name of what the last pass gets: the module that comes out is `mod`, or `after` for a
    check that looks at the last pass."""
    case = stored.case
    text, given = applying.lines(case.setup, module)
    last = case.passes[-1] if script.judges == "pass" and case.passes else None
    if last is None and script.keeps_input:
        text, given = f"{text}before = {given}\n", "before"
    more, given = applying.lines(case.passes if last is None else case.passes[:-1], given)
    text += more
    if last is None:
        return text if given == "mod" else f"{text}mod = {given}\n", "mod"
    if script.keeps_input:
        text, given = f"{text}before = {given}\n", "before"
    return text if script.applies_the_pass else text + applying.line(last, "after", given), given
