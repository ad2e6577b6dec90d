"""The body of a repro script: the module, the passes and the check, between the imports and the end.

How a script is put together of it, and what is around it, is in `corpus.scripts.repro`. No TVM is imported here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.frames import FRAMES
from corpus.scripts.loaded_file import FOLDER, loaded_file
from corpus.scripts.module_text import without_imports
from corpus.scripts.repro_calls import CallLines, Calls
from corpus.scripts.repro_passes import PassLines
from corpus.scripts.script_losses import with_helper
from corpus.scripts.statements import folded
from corpus.scripts.syntax import syntax_of
from corpus.store import StoredCase
from generators.case import Case, ModuleText
from generators.passes.official import rest_of_pipeline
from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call
from generators.targets import DEFAULT, TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.evidence import CLOSED_DESCRIPTORS, Died, Hung, OutOfMemory, RefusedByNvcc
from oracles.scripts import Script
from oracles.verdict import CRASH, DOES_NOT_RUN, HANG

DEADLINE_S, HANG_S, SLEEPS_S = 120, 15, 60
"""Seconds after which a script ends itself. One that shows a hang does so after HANG_S of the CPU, however busy the
machine is; after SLEEPS_S of the clock where it computes nothing, or gets less than a quarter of a CPU."""
_THERE = frozenset({"tvm", "tvm_ffi", "relax", "tirx", "s_tir", "dpl", "np", "loaded"})
"""The names of constructors that are not in the loaded file: those of the pass table, and the file itself."""
_FROM_HERE = "status = 1  # From here on, an exception is the bug."


@dataclass(frozen=True, slots=True)
class Manner:
    """What kind of script is written. single: see `corpus.scripts.repro.repro_text`; plain, verified_by, call: see
    `plain_text`."""

    single: bool
    plain: bool = False
    verified_by: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class ScriptBody:
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


@dataclass(frozen=True, slots=True)
class _Built:
    """How a script writes what is built. compiled: the expression that compiles `mod`, for `target`. device, tensor:
    where entry calls run, and what makes tensors there; on_device: that is not the CPU."""

    target: str
    compiled: str
    device: str
    tensor: str
    on_device: bool


@dataclass(frozen=True, slots=True)
class _Check:
    """What decides whether the bug is there. builds, names_target: whether it compiles `mod`, and names the target of
    builds itself. calls: the lines in it that make entry calls."""

    text: str
    builds: bool
    names_target: bool
    calls: tuple[CallLines, ...]


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the parts of one body are made of. target: how it names the target."""

    stored: StoredCase
    script: Script
    manner: Manner
    target: str
    calls: Calls
    built: _Built
    applying: PassLines


def body_of(stored: StoredCase, script: Script, manner: Manner, target: str, maker: str | None) -> ScriptBody:
    """The body with this name of the target; maker: how that is constructed, None where no name is needed."""
    compares = not (manner.plain and stored.symptom in (CRASH, HANG, DOES_NOT_RUN))
    calls = Calls(stored, manner.single, manner.plain, compares)
    applying = PassLines(target, stored.case.target != DEFAULT)
    parts = _Parts(stored, script, manner, target, calls, _built(stored, script, calls, target), applying)
    module, name = module_text(stored, manner.single, manner.plain)
    lines, given = _applied(parts, name)
    check = _check(parts, given)
    passes = _passes(parts, lines, name, check)
    names = {"module": module.rstrip("\n"), "passes": passes, "check": check.text, **_around(parts, check)}
    if manner.call:
        names.update(passes="", check=f"{manner.call}\n")
    frame = FRAMES.get_template("plain_body.py.j2" if manner.plain else "body.py.j2")
    text = frame.render(names, named_target=None)
    uses = text.count(target)
    return ScriptBody(frame.render(names, named_target=maker) if uses else text, uses)


_UNOPTIMISED = 'tvm.target.Target({"kind": "llvm", "opt-level": 0})'


def _built(stored: StoredCase, script: Script, calls: Calls, target: str) -> _Built:
    # A script runs kernels where its entry calls go through a virtual machine, which the text of the calls shows.
    on_device = TARGETS[stored.case.target].threads and script.runs and calls.use_machine
    build_target = "HERE" if on_device else _UNOPTIMISED if stored.setting.unoptimised else target
    pipeline = ""
    if stored.setting.goes_on:
        pipeline = ", relax_pipeline=rest"
    elif stands_in_the_pipeline(stored) and Phase.GROUPED in _phases_given(stored):
        pipeline = f", relax_pipeline=relax.get_default_pipeline({build_target})"
    compiled = f"tvm.compile(mod, {build_target}{pipeline})"
    where = ("device", "on_device") if on_device else ("tvm.cpu()", "tensor")
    return _Built(build_target, compiled, *where, on_device)


def _check(parts: _Parts, given: str) -> _Check:
    """given: the name of what the last pass gets."""
    check = _oracle_check(parts, given)
    verifier = parts.manner.verified_by
    if not verifier:
        return check
    # The verifier of Relax raises and gives nothing; those of PrimFuncs say whether.
    return replace(check, text=f"{verifier}\n" if verifier.startswith("relax.") else f"assert {verifier}\n")


def _oracle_check(parts: _Parts, given: str) -> _Check:
    passes, applying, built = parts.stored.case.passes, parts.applying, parts.built
    target, compiled, made = _Noted(built.target), _Noted(built.compiled), list[CallLines]()

    def calls(machine: object, walled: bool = False) -> str:
        made.append(parts.calls.lines(str(machine), compiled, built.device, built.tensor, walled))
        return made[-1].text.rstrip("\n")

    def inputs(function: str) -> str:
        made.append(parts.calls.inputs(function))
        return made[-1].text

    text = parts.script.text(
        inputs=inputs,
        apply=lambda name, given: applying.line(passes[-1], name, given).rstrip("\n"),
        under_target=lambda line: applying.under_target(passes[-1], f"{line}\n").rstrip("\n"),
        alone=lambda given: applying.alone(passes[-1], given).rstrip("\n"),
        has_steps=lambda: applying.has_steps(passes[-1]),
        folded=folded,
        given=given,
        plain=parts.manner.plain,
        from_here="" if parts.manner.plain else _FROM_HERE,
        calls=calls,
        passes=[call.source for call in passes],
        has_local_functions=lambda: _has_local_functions(parts.stored.case.module),
        needs_target=any(map(applying.wants_target, passes)),
        target=parts.target,
        build_target=target,
        compiled=compiled,
        of_nvcc=of_nvcc(parts.stored),
        device=built.device,
        evidence=parts.stored.evidence,
        build=CPU_BUILDS.get(parts.stored.oracle),
    )
    return _Check(text, compiled.used, target.used, tuple(made))


def _passes(parts: _Parts, lines: str, module: str, check: _Check) -> str:
    """The lines that apply the passes, and what a reader must know of those that the build applies."""
    stored, case = parts.stored, parts.stored.case
    builds, whole = check.builds, stands_in_the_pipeline(parts.stored)
    if builds and whole:
        lines = FRAMES.get_template("whole_pipeline.py.j2").render(culprit=stored.culprit, module=module)
    elif stored.setting.fill.scratch:
        lines += FRAMES.get_template("scratch.py.j2").render(fill=stored.setting.fill)
    if builds and stored.setting.goes_on:
        lines += _rest(stored)
    applied = [call.name for call in (*case.setup, *case.passes)]
    if parts.manner.plain and builds and not whole and stored.culprit in PASSES and stored.culprit not in applied:
        lines += f"# tvm.compile applies {stored.culprit}.\n"
    return lines


def _rest(stored: StoredCase) -> str:
    """The line that makes the passes of the pipeline that are still to come."""
    phase = phase_left(stored)
    assert phase is not None, "passes of the pipeline have been applied"
    names = rest_of_pipeline(phase, stored.case.target)
    passes = "".join(f"    {default_call(name).source},\n" for name in names)
    return f"rest = tvm.transform.Sequential([  # tvm.compile would begin anew.\n{passes}])\n"


def _around(parts: _Parts, check: _Check) -> dict[str, object]:
    """What the frame of the body needs besides."""
    stored, built = parts.stored, parts.built
    return {
        "script": parts.script,
        "loaded": None if stored.case.load is None else loaded_file(Path(stored.case.load)),
        "loaded_names": _loaded_names(stored.case),
        "loaded_folder": FOLDER,
        "plain": parts.manner.plain,
        "once": parts.calls.once(check.calls),
        "closes": closes_descriptors(stored),
        "hang_s": HANG_S if isinstance(stored.evidence, Hung) else None,
        "alarm_s": SLEEPS_S if isinstance(stored.evidence, Hung) else DEADLINE_S,
        "bounds_memory": isinstance(stored.evidence, OutOfMemory),
        "kernels": TARGETS[stored.case.target].threads and (check.names_target or check.builds),
        "on_device": built.on_device,
        "of_nvcc": of_nvcc(stored),
    }


def of_nvcc(stored: StoredCase) -> bool:
    """Whether the failure is that nvcc refuses the kernels: TVM asks it where a device is, and a script anywhere."""
    return isinstance(stored.evidence, RefusedByNvcc)


def closes_descriptors(stored: StoredCase) -> bool:
    """Whether the failure is that descriptors of the process are closed."""
    return stored.evidence == Died(CLOSED_DESCRIPTORS)


def _has_local_functions(module: ModuleText) -> bool:
    """Whether a function stands in another, as far as the script says: what is kept as JSON may be no Python."""
    if module.json is not None:
        return False
    functions = [node for node in ast.walk(syntax_of(module.script)) if isinstance(node, ast.FunctionDef)]
    return any(isinstance(inner, ast.FunctionDef) for one in functions for part in one.body for inner in ast.walk(part))


def _loaded_names(case: Case) -> tuple[str, ...]:
    """The names of the loaded file that constructors use."""
    sources = [call.source for call in (*case.setup, *case.passes) if call.name not in PASSES]
    words = (node.id for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(word for word in words if word not in _THERE))


def module_text(stored: StoredCase, single: bool, plain: bool = False) -> tuple[str, str]:
    """The text of the module, and the expression for it."""
    module = stored.case.module
    if module.json is not None:
        return FRAMES.get_template("module_json.py.j2").render(single=single, plain=plain), "Module"
    script = without_imports(module.script)
    statements = syntax_of(script).body
    first = min(node.lineno for node in (statements[0], *getattr(statements[0], "decorator_list", ())))
    names = [node.name for node in statements if isinstance(node, ast.ClassDef)]
    # The printer writes its imports as comments above the first statement.
    lines = [line for line in script.splitlines()[first - 1 :] if not (plain and line.lstrip().startswith("#"))]
    return with_helper("\n".join(lines).strip() + "\n"), names[-1]


def _applied(parts: _Parts, module: str) -> tuple[str, str]:
    """Set-up and passes, and the name of what the last pass gets: the module that comes out is `mod`, or `after` for a
    check that looks at the last pass."""
    case, script, applying = parts.stored.case, parts.script, parts.applying
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


def stands_in_the_pipeline(stored: StoredCase) -> bool:
    """Whether the passes leave packed functions, which `tvm.compile` does not take. Whoever brings a module so far has
    applied the official TIR pipeline, so that compiling the module from the start shows what its passes do."""
    return any(phase is not None and phase >= Phase.PACKED for phase in _phases_given(stored))


def phase_left(stored: StoredCase) -> Phase | None:
    """The phase of Relax in which the passes leave the module; None where the pipeline is still to come, or over."""
    given = [phase for phase in _phases_given(stored) if phase is not None]
    return given[-1] if given and given[-1].of_relax and given[-1] is not Phase.HIGH else None


def _phases_given(stored: StoredCase) -> list[Phase | None]:
    """The phases that the passes of the table lead to, those of the setup first."""
    return [PASSES[call.name].place.gives for call in (*stored.case.setup, *stored.case.passes) if call.name in PASSES]
