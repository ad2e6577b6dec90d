"""Writes `repro.py`: one file that imports tvm and numpy and shows one bug to readers who have never seen passfuzz.

Exit status of the script: 1 and one line of why when the bug is there, 0 when it is gone, 2 when this TVM cannot run
it. It is read from top to bottom: the module, the pass, the check. What is checked is in `oracles.scripts`, one
template for each oracle; what is around it in the templates of `corpus/frames`. No TVM is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jinja2

from corpus.finding import Finding
from corpus.module_text import without_imports
from corpus.poison_fill import FILLS, Fill, malloc_text, scratch_text
from corpus.repro_calls import Calls
from corpus.repro_imports import imports_for, needs_late_annotations
from corpus.repro_passes import PassLines, folded
from corpus.script_losses import with_helper
from corpus.store import StoredCase
from generators.passes.row import Phase
from generators.passes.table import PASSES
from generators.targets import DEFAULT, TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.builds.needs import row_of
from oracles.evidence import Hung, NotANumber, OutOfMemory, ReferenceTrap
from oracles.scripts import Script, script_for
from oracles.verdict import BUILD

DEADLINE_S, HANG_S = 120, 15
"""Seconds after which a script ends itself; those that show a hang need not take as long as others may."""
_BESIDE = """\
# TVMScript cannot say this module exactly; module.py shows what it can.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "module.json"), encoding="utf-8") as file:
    Module = tvm.ir.load_json(file.read())
"""
_FROM_HERE = "status[0] = 1  # From here on, an exception is the bug."
_FRAMES = jinja2.Environment(
    loader=jinja2.PackageLoader("corpus", "frames"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - Python is written, not HTML
)


def runs_kernels(found: StoredCase | Finding) -> bool:
    """Whether the script of a case runs kernels, for which it needs a device."""
    return TARGETS[found.case.target].threads and (bool(found.expectations) or found.oracle == BUILD)


def shown_by_script(found: StoredCase | Finding) -> bool:
    """Whether the script shows its bug where it was found: one with kernels does where a device has shown the bug."""
    return not runs_kernels(found) or (found.oracle == BUILD and row_of(found.case.target).on_device)


def repro_text(stored: StoredCase, embed_arrays: bool = False) -> str:
    """The text of `repro.py` for a case. KeyError when its target has no constructor.

    Large arrays are read from the `inputs.npz` next to the script; with embed_arrays the script holds them itself.
    """
    script = script_of(stored)
    maker = TARGETS[stored.case.target].source
    body = _body(stored, script, embed_arrays, "TARGET", maker)
    if body.uses_of_target == 1:
        body = _body(stored, script, embed_arrays, maker, None)
    return _FRAMES.get_template("script.py.j2").render(
        title=" ".join(stored.title.replace("\\", "/").replace('"', "'").split()),
        script=script,
        late_annotations=needs_late_annotations(_module(stored, embed_arrays)[0]),
        malloc=malloc_text(stored.fill) if _reads_uninitialised(stored, script) else "",
        imports=imports_for(body.text),
        body=body.text.rstrip("\n"),
    )


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


def _body(stored: StoredCase, script: Script, embed_arrays: bool, target: str, maker: str | None) -> _Body:
    """The body with this name of the target; maker: how that is constructed, None where no name is needed."""
    threads = TARGETS[stored.case.target].threads
    calls = Calls(stored, embed_arrays)
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
    applying = PassLines(target, stored.case.target != DEFAULT)
    module, name = _module(stored, embed_arrays)
    lines, given = _applied(stored, script, applying, name)
    case = stored.case
    check = script.text(
        apply=lambda name, given: applying.line(case.passes[-1], name, given).rstrip("\n"),
        under_target=lambda line: applying.under_target(case.passes[-1], f"{line}\n").rstrip("\n"),
        folded=folded,
        given=given,
        from_here=_FROM_HERE,
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
    if compiled.used and whole:
        lines = f"# {stored.culprit} stands in the TIR pipeline, which tvm.compile applies.\nmod = {name}\n"
    else:
        lines += scratch_text(stored.fill)
    names: dict[str, Any] = {
        "script": script,
        "path": None if case.load is None else repr(case.load),
        "module": module.rstrip("\n"),
        "once": calls.once(),
        "alarm_s": HANG_S if isinstance(stored.evidence, Hung) else DEADLINE_S,
        "bounds_memory": isinstance(stored.evidence, OutOfMemory),
        "kernels": threads and (build_target.used or compiled.used),
        "on_device": on_device,
        "passes": lines,
        "check": check,
    }
    frame = _FRAMES.get_template("body.py.j2")
    text = frame.render(names, named_target=None)
    uses = text.count(target)
    return _Body(frame.render(names, named_target=maker) if uses else text, uses)


def _module(stored: StoredCase, embedded: bool) -> tuple[str, str]:
    """The text of the module, and the expression for it."""
    module = stored.case.module
    if module.json is not None:
        return f"Module = tvm.ir.load_json({module.json!r})\n" if embedded else _BESIDE, "Module"
    lines = without_imports(module.script).splitlines()
    script = "\n".join(line for line in lines if not line.startswith("# from")).strip()
    return with_helper(f"{script}\n"), _class_name(script)


def _class_name(script: str) -> str:
    names = [line.split()[1].split("(")[0].rstrip(":") for line in script.splitlines() if line.startswith("class ")]
    return names[-1] if names else "Module"


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
