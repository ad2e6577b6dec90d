"""Writes `repro.py`: one file that imports tvm and numpy and shows one bug to somebody who has never seen passfuzz.

Exit status of the script: 1 and one line of why when the bug is there, 0 when it is gone, 2 when this TVM cannot run
it. It is read from top to bottom: the module, the pass, the check. What is checked is said in `corpus.checks`, entry
calls are in `corpus.repro_calls`. No TVM is imported here.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence

from corpus.checks import Check, check_for
from corpus.dead_checks import DEAD_VALUES
from corpus.finding import Finding
from corpus.module_text import indented, without_imports
from corpus.poison_fill import FILLS, Fill, malloc_text, scratch_text
from corpus.repro_calls import calls_text
from corpus.script_losses import with_helper
from corpus.store import StoredCase
from generators.case import PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES
from generators.targets import DEFAULT, TARGETS
from oracles.builds.needs import row_of
from oracles.reference.errors import UNWRITTEN
from oracles.verdict import BUILD

WIDTH = 118
"""Characters of a line that constructs a pass, where it can be broken."""
DEADLINE_S, HANG_S = 120, 15
"""Seconds after which a script ends itself; those that show a hang need not take as long as others may."""

_HEAD = '''\
"""{title}

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
'''

_HOOK = """\
sys.excepthook = lambda kind, why, _: (
    print(" ".join(f"{{kind.__name__}}: {{why}}".split())[:300], flush=True), os._exit({status}))
"""
_BY_KIND = "1 if kind is AssertionError else 2"
_THREADS = 'os.environ.setdefault("TVM_NUM_THREADS", "1")\n'
"""A forked child of a process with TVM's threads would wait for them."""

_IMPORTS = (
    (r"\bshutil\.", "import shutil"),
    (r"\bTypeVar\(", "from typing import TypeVar"),
    (r"\bnp\.", "import numpy as np"),
    (r"\btvm\.", "import tvm"),
    (r"\brelax\.", "from tvm import relax"),
    (r"(?<!\.)\bs_tir\.", "from tvm import s_tir"),
    (r"(?<!\.)\btirx\.", "from tvm import tirx"),
    (r"\bdpl\.", "from tvm.relax import dpl"),
    (r"\btvm_ffi\.", "import tvm_ffi"),
    (r"(?<!\.)\btensor\(", "from tvm.runtime import tensor"),
)
_SCRIPT_IMPORTS = ((r"\bI\.", "ir as I"), (r"\bR\.", "relax as R"), (r"\bT\.", "tirx as T"))
"""What a script may refer to, and the import for it."""

_CHILD = """\
if child := os.fork():  # The parent waits: a native crash or a hang is an answer too.
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(code if code >= 0 else print("killed by signal", -code) or 1)
signal.alarm({alarm_s})
"""

_MEMORY = """\
import resource
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
"""
"""In scripts that show a pass without a bound on its memory, which must not take the machine's."""

_COMPILES = "tvm.compile(mod, TARGET"
_WHOLE = "# {culprit} stands in the TIR pipeline, which tvm.compile applies.\nmod = {module}\n"

_NVCC = """\
os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
device = tvm.cuda()
if {none}shutil.which("nvcc") is None:
    print("this needs {what}", flush=True)
    os._exit(2)
"""
"""In scripts that build for a GPU. TVM makes device code where a device is; with NVRTC it is always told to use fast
math, which is no promise."""
_IF_ONE_IS = _NVCC.format(none="device.exist and ", what="nvcc where a CUDA device is")
_DEVICE = (
    _NVCC.format(none="not device.exist or ", what="a CUDA device and nvcc")
    + """\
HERE = tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.compute_version.replace('.', '')}"}, host="llvm")


def on_device(array):
    return tvm.runtime.tensor(array, device)

"""
)
"""In scripts that run what was built for a GPU; device code is made for the one that is there."""
_BUILDS = re.compile(r"\b(?:tvm\.compile|relax\.build)\(mod, .*")

_FROM_HERE = "status = 1  # From here on, an exception is the bug.\n"
_GONE = 'print("the bug is gone", flush=True)\n'

_LOAD = """\
import importlib.util

sys.path.append(os.path.dirname({path!r}))
spec = importlib.util.spec_from_file_location("loaded", {path!r})
loaded = importlib.util.module_from_spec(spec)
sys.modules["loaded"] = loaded
spec.loader.exec_module(loaded)
PASSES = loaded.PASSES
"""


def runs_kernels(found: StoredCase | Finding) -> bool:
    """Whether the script of a case runs kernels, for which it needs a device."""
    return TARGETS[found.case.target].threads and (bool(found.expectations) or found.oracle == BUILD)


def shown_by_script(found: StoredCase | Finding) -> bool:
    """Whether the script shows its bug where it was found: one with kernels does where a device has shown the bug."""
    return not runs_kernels(found) or (found.oracle == BUILD and row_of(found.case.target).on_device)


def repro_text(stored: StoredCase, embed_arrays: bool = False) -> str:
    """The text of `repro.py` for a case. KeyError when its target has no constructor.

    Large arrays and modules that TVMScript cannot say are read from `inputs.npz` and `module.json` beside the script;
    with embed_arrays the script holds them itself.
    """
    check = _check_of(stored)
    load = _LOAD.format(path=stored.case.load) if stored.case.load is not None else ""
    script, module = _module(stored, embed_arrays)
    once, calls = calls_text(stored, check, embed_arrays) if check.runs else ("", "")
    child = _child(stored) if check.child else ""
    tested = _check(stored, check) + (indented(calls) if check.text else calls)
    if _COMPILES in tested and _stands_in_the_pipeline(stored):
        passes = _WHOLE.format(culprit=stored.culprit, module=module)
        if any(phase is Phase.GROUPED for phase in _phases_given(stored)):
            tested = tested.replace(_COMPILES, f"{_COMPILES}, relax_pipeline=relax.get_default_pipeline(TARGET)")
    else:
        passes = _passes(stored, check, module) + scratch_text(stored.fill)
    end = _GONE + ("os._exit(0)\n" if child else "")
    body = passes + tested + end
    parts = (load, script, once, child + body)
    if TARGETS[stored.case.target].threads and _BUILDS.search(body):
        # The child alone touches the device: what a process has begun with the driver, its children cannot use.
        runs = "VirtualMachine" in body
        parts = (load, script, child + (_DEVICE if runs else _IF_ONE_IS), _on_device(once + body) if runs else body)
    rest = _with_target("\n".join(part for part in parts if part), stored)
    return _head(stored, check, script) + _imports(rest) + f"\n{rest}"


def fills_for(stored: StoredCase) -> tuple[Fill, ...]:
    """What unwritten memory may hold in the script of a case, in the order to try; one where that does not matter.

    What PrimFuncs allocate is filled behind the passes only, and where an exception is not the bug.
    """
    check = _check_of(stored)
    if not (_reads_unwritten(stored, check) and shown_by_script(stored)):
        return FILLS[:1]
    fixed = check.error_is_the_bug or _stands_in_the_pipeline(stored) or TARGETS[stored.case.target].threads
    return tuple(fill for fill in FILLS if not (fill.scratch and fixed))


def _check_of(stored: StoredCase) -> Check:
    return check_for(
        stored.oracle,
        has_expectation=bool(stored.expectations),
        symptom=stored.symptom,
        message=stored.message,
        on_device=TARGETS[stored.case.target].threads,
    )


def _reads_unwritten(stored: StoredCase, check: Check) -> bool:
    """Whether a result may be one that nobody has written: the reference says NaN of it, a run whatever was there."""
    return check.runs and (stored.symptom == UNWRITTEN or re.search(r"\bis nan\b", stored.message) is not None)


def _stands_in_the_pipeline(stored: StoredCase) -> bool:
    """Whether the passes leave packed functions, which `tvm.compile` does not take. Whoever brings a module so far has
    applied the official TIR pipeline, so that compiling the module from the start shows what its passes do."""
    return any(phase is not None and phase >= Phase.PACKED for phase in _phases_given(stored))


def _phases_given(stored: StoredCase) -> list[Phase | None]:
    """The phases that the passes of the table lead to, those of the setup first."""
    return [PASSES[call.name].place.gives for call in (*stored.case.setup, *stored.case.passes) if call.name in PASSES]


def _head(stored: StoredCase, check: Check, script: str) -> str:
    head = _HEAD.format(title=_one_line(stored.title))
    if _needs_late_annotations(script):
        head += "from __future__ import annotations\n\n"
    head += f"import os, {'signal, ' if check.child else ''}sys\n\n"
    if _reads_unwritten(stored, check):
        head += malloc_text(stored.fill)
    if check.error_is_the_bug:
        return head + "status = 2\n" + _HOOK.format(status="status") + (_THREADS if check.child else "")
    return head + _HOOK.format(status=_BY_KIND) + (_THREADS if check.child else "")


def _child(stored: StoredCase) -> str:
    child = _CHILD.format(alarm_s=HANG_S if stored.symptom == "hang" else DEADLINE_S)
    return child + (_MEMORY if "MemoryError" in stored.message else "")


def _with_target(text: str, stored: StoredCase) -> str:
    """The text with its target in the place of TARGET, or named before it where it is needed more than once."""
    if "TARGET" not in text:
        return text
    maker = TARGETS[stored.case.target].source
    return text.replace("TARGET", maker) if text.count("TARGET") == 1 else f"TARGET = {maker}\n\n{text}"


def _on_device(text: str) -> str:
    """The text with what it runs on the device."""
    text = _BUILDS.sub(lambda line: line[0].replace("TARGET", "HERE"), text).replace("tvm.cpu()", "device")
    return re.sub(r"(?<![.\w])(?:tvm\.runtime\.)?tensor\(", "on_device(", text)


def _one_line(text: str) -> str:
    return " ".join(text.replace("\\", "/").replace('"', "'").split())


def _imports(used: str) -> str:
    lines = [line for pattern, line in _IMPORTS if re.search(pattern, used)]
    dialects = [name for pattern, name in _SCRIPT_IMPORTS if re.search(pattern, used)]
    if dialects:
        lines.append(f"from tvm.script import {', '.join(dialects)}")
    return "".join(f"{line}\n" for line in lines or ["import tvm"])


# --- the module and the passes --------------------------------------------------------------------------


_BESIDE = """\
# TVMScript cannot say this module exactly; module.py shows what it can.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "module.json"), encoding="utf-8") as file:
    Module = tvm.ir.load_json(file.read())
"""


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


def _needs_late_annotations(script: str) -> bool:
    """Whether Python cannot evaluate annotations of functions: they name TypeVars, or have R.Prim(value=...)."""
    functions = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.FunctionDef)]
    annotations = [p.annotation for f in functions for p in f.args.args] + [f.returns for f in functions]
    nodes = [node for annotation in annotations if annotation for node in ast.walk(annotation)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    return not (names <= {"R", "T", "I"} and keywords <= {"dtype", "ndim", "vdevice"})


def _passes(stored: StoredCase, check: Check, module: str) -> str:
    """Set-up and passes: the module that comes out is `mod`, or `after` for a check that looks at the last pass."""
    case = stored.case
    text, given = _applied_all(stored, case.setup, module)
    last = case.passes[-1] if check.each_pass and case.passes else None
    if last is None and "before" in check.text:
        text, given = f"{text}before = {given}\n", "before"
    more, given = _applied_all(stored, case.passes if last is None else case.passes[:-1], given)
    text += more
    if last is None:
        return text if given == "mod" else f"{text}mod = {given}\n"
    if "before" in check.text:
        text, given = f"{text}before = {given}\n", "before"
    if not check.pass_is_checked:
        return text + _applied(stored, last, "after", given)
    if check.text:
        return text
    text += _folded(f"transform = {last.source}\n")
    return text + _FROM_HERE + _under_target(stored, last, f"transform({given})\n")


def _applied_all(stored: StoredCase, calls: Sequence[PassCall], given: str) -> tuple[str, str]:
    text = ""
    for call in calls:
        text += _applied(stored, call, "mod", given)
        given = "mod"
    return text, given


def _applied(stored: StoredCase, call: PassCall, name: str, given: str) -> str:
    return _under_target(stored, call, _folded(f"{name} = {call.source}({given})\n"))


def _folded(line: str) -> str:
    """The line over as many as it needs, broken behind commas; as it is where that would change it."""
    if len(line) <= WIDTH:
        return line
    first, *rest = re.split(r"(?<=,) ", line)
    lines = [first]
    for part in rest:
        if len(lines[-1]) + len(part) < WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    text = "\n".join(lines)
    try:
        same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(line))
    except SyntaxError:
        return line  # a comma inside of a string
    return text if same else line


def _under_target(stored: StoredCase, call: PassCall, line: str) -> str:
    """The line under the target and the options that the pass wants."""
    contexts = ["TARGET"] if _needs_target(stored, call) else []
    contexts += [f"tvm.transform.PassContext(config={call.options})"] if call.options else []
    return f"with {', '.join(contexts)}:\n{indented(line)}" if contexts else line


def _needs_target(stored: StoredCase, call: PassCall) -> bool:
    """A pass that the table does not know is run under the target of its case, like one that needs it."""
    row = PASSES.get(call.name)
    return row.place.needs_target if row is not None else stored.case.target != DEFAULT


# --- the check ------------------------------------------------------------------------------------------


_PASS = re.compile(r"^( *)(\w+) = PASS\((\w+)\)\n", re.MULTILINE)


def _check(stored: StoredCase, check: Check) -> str:
    """The check with this case's passes in it."""
    passes = stored.case.passes
    text = check.text.replace("[PASSES]", f"[{', '.join(call.source for call in passes)}]")
    if any(_needs_target(stored, call) for call in passes):
        text = text.replace("with tvm.transform.PassContext", "with TARGET, tvm.transform.PassContext")
    beginning = next((key for key in DEAD_VALUES if stored.message.startswith(key)), "a dead constant")
    text = text.replace("DEAD_VALUE", DEAD_VALUES[beginning])

    def application(found: re.Match[str]) -> str:
        return textwrap.indent(_applied(stored, passes[-1], found[2], found[3]), found[1])

    text = _PASS.sub(application, text)
    return _FROM_HERE + text if check.error_is_the_bug and not (check.pass_is_checked and not text) else text
