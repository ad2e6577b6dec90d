"""Writes `repro.py`: one file that imports tvm and numpy and shows one bug to somebody who has never seen passfuzz.

Exit status of the script: 1 and one line of why when the bug is there, 0 when it is gone, 2 when this TVM cannot run
it. What is checked is said in `corpus.checks`. No TVM is imported here.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.checks import Check, check_for
from corpus.encoding import INLINE_ELEMENTS
from corpus.finding import Expectation
from corpus.module_text import array_source, indented, number_source, without_imports
from corpus.store import StoredCase, to_json
from generators.case import Argument, PassCall, Shape
from generators.passes.table import PASSES

TARGETS = {
    "llvm": 'tvm.target.Target("llvm")',
    "cuda": 'tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")',
    "cuda-cpu": 'tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")',
}
"""Constructors of the targets by their names in a Case."""

_HEAD = '''\
"""{title}

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
from __future__ import annotations

import os, signal, sys

os.environ.setdefault("TVM_NUM_THREADS", "1")
try:
{imports}

{module}
{target}{setup}\
    PASSES = [
{passes}\
    ]
    [make() for make in PASSES]
except Exception as error:
    print("this TVM cannot run it:", " ".join(f"{{type(error).__name__}}: {{error}}".split())[:300])
    sys.exit(2)


'''

_IMPORTS = (
    ("TypeVar(", "from typing import TypeVar"),
    ("np.", "import numpy as np"),
    ("tvm.", "import tvm"),
    ("relax.", "from tvm import relax"),
    ("dpl.", "from tvm.relax import dpl"),
    ("I.", "from tvm.script import ir as I"),
    ("R.", "from tvm.script import relax as R"),
    ("T.", "from tvm.script import tirx as T"),
)
"""What a script may refer to, and the import for it."""

_APPLIED = """\
def applied(module, passes):
    for make in passes:
        module = make()(module)
    return module


"""

_UNDER_TARGET = """\
    def under_target(make):
        def call(module):
            with TARGET:
                return make()(module)

        return lambda: call

"""

_RUN = """\
def tensors(value):
    if type(value) is tuple:  # a ShapeTuple is a tuple, too
        return tuple(tensors(field) for field in value)
    return tvm.runtime.tensor(value) if isinstance(value, np.ndarray) else value


def flat(value):
    if hasattr(value, "numpy"):
        return [value.numpy()]
    if isinstance(value, tvm.runtime.ShapeTuple) or not hasattr(value, "__iter__"):
        return [np.array(value)]
    return [leaf for field in value for leaf in flat(field)]


def run(module, function, arguments, pipeline="default_build"):
    inputs = [tensors(argument) for argument in arguments]
    if any(g.name_hint == function and isinstance(f, tvm.tirx.PrimFunc) for g, f in module.functions.items()):
        tvm.compile(module, TARGET)[function](*inputs)
        return flat(inputs)
    machine = relax.VirtualMachine(tvm.compile(module, TARGET, relax_pipeline=pipeline), tvm.cpu())
    return flat(machine[function](*inputs))


"""

_SURVIVING = """\
def look():
    module = MODULE
    for make in PASSES:
        module = make()(module)


"""

_EACH_PASS = """\
def look():
    module = MODULE
    for make in PASSES:
        after = make()({given})
        why = check(module, after, make)
        if why:
            return why
        module = after


"""

_WHOLE = """\
def look():
    return check(MODULE)


"""

DEADLINE_S, HANG_S = 120, 15
"""Seconds after which a script ends itself; those that show a hang need not take as long as others may."""

_MAIN = """\
if os.fork() == 0:  # In a child: a native crash or a hang is an answer too.
    signal.alarm({alarm_s})
{memory}    try:
        why = look()
    except Exception as error:
        why = f"{error_text}{{type(error).__name__}}: {{error}}"
{unexpected}\
    print(" ".join((why or "the bug is gone").split())[:300], flush=True)
    os._exit(1 if why else 0)
status = os.wait()[1]
if os.WIFSIGNALED(status):
    print("killed by signal", os.WTERMSIG(status))
sys.exit(1 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
"""

_UNEXPECTED = """\
        print(why, flush=True)
        os._exit(2)
"""


_MEMORY = """\
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
"""
"""In scripts that show a pass without a bound on its memory, which must not take the machine's."""


def _main(check: Check, stored: StoredCase) -> str:
    limits = {
        "alarm_s": HANG_S if stored.symptom == "hang" else DEADLINE_S,
        "memory": _MEMORY if "MemoryError" in stored.message else "",
    }
    if check.error_is_the_bug:
        return _MAIN.format(error_text="", unexpected="", **limits)
    return _MAIN.format(error_text="stopped before the check: ", unexpected=_UNEXPECTED, **limits)


def repro_text(stored: StoredCase, embed_arrays: bool = False) -> str:
    """The text of `repro.py` for a case. KeyError when its target has no constructor.

    Large arrays are read from the `inputs.npz` beside the script; with embed_arrays the script holds them itself.
    """
    case = stored.case
    check = check_for(stored.oracle, has_expectation=bool(stored.expectations))
    parts = [_expected(stored, embed_arrays) + _RUN if check.runs else ""]
    parts.extend((_APPLIED if "applied(" in check.text else "", f"{check.text}\n\n" if check.text else ""))
    parts.extend((_look(stored, check), _main(check, stored)))
    rest = "".join(parts)
    module, setup, passes = indented(_module(stored)), _setup(stored), _lambdas(stored, case.passes)
    target = f"    TARGET = {TARGETS[case.target]}\n" if "TARGET" in setup + rest else ""
    used = module + target + setup + passes + rest
    imports = "\n".join(f"    {line}" for word, line in _IMPORTS if word in used)
    head = _HEAD.format(
        title=_one_line(stored.title), imports=imports, module=module, target=target, setup=setup, passes=passes
    )
    return head + rest


def _one_line(text: str) -> str:
    return " ".join(text.replace("\\", "/").replace('"', "'").split())


def _module(stored: StoredCase) -> str:
    module = stored.case.module
    if module.json is not None:
        return f"MODULE = tvm.ir.load_json({module.json!r})\n"
    script = "\n".join(line for line in without_imports(module.script).splitlines() if not line.startswith("# from"))
    name = _class_name(script)
    return f"{script.strip()}\n\nMODULE = {name}\n"


def _class_name(script: str) -> str:
    names = [line.split()[1].split("(")[0].rstrip(":") for line in script.splitlines() if line.startswith("class ")]
    return names[-1] if names else "Module"


def _setup(stored: StoredCase) -> str:
    case = stored.case
    text = _LOAD.format(path=case.load) if case.load is not None else ""
    if any(_needs_target(stored, call) for call in (*case.setup, *case.passes)):
        text += _UNDER_TARGET
    if case.setup:
        text += f"    for make in [\n{_lambdas(stored, case.setup)}    ]:\n        MODULE = make()(MODULE)\n"
    return text


_LOAD = """\
    import importlib.util

    sys.path.append(os.path.dirname({path!r}))
    spec = importlib.util.spec_from_file_location("loaded", {path!r})
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["loaded"] = loaded
    spec.loader.exec_module(loaded)
"""


def _needs_target(stored: StoredCase, call: PassCall) -> bool:
    """A pass that the table does not know is run under the target of its case, like one that needs it."""
    row = PASSES.get(call.name)
    return row.needs_target if row is not None else stored.case.target != "llvm"


def _lambdas(stored: StoredCase, calls: Sequence[PassCall]) -> str:
    return "".join(f"        {_lambda(stored, call)},\n" for call in calls)


def _lambda(stored: StoredCase, call: PassCall) -> str:
    """How the script makes a pass; one that the table does not know comes from the loaded file's PASSES."""
    from_file = stored.case.load is not None and call.name not in PASSES
    make = f"lambda: loaded.PASSES[{call.name!r}]()" if from_file else f"lambda: {call.source}"
    return f"under_target({make})" if _needs_target(stored, call) else make


def _look(stored: StoredCase, check: Check) -> str:
    if not check.text:
        return _SURVIVING
    if not check.each_pass:
        return _WHOLE
    # The copy goes through JSON, so that not one node is shared with the module that is watched.
    watched = stored.oracle == "input_unchanged"
    return _EACH_PASS.format(given="tvm.ir.load_json(tvm.ir.save_json(module))" if watched else "module")


# --- inputs and expected outputs ------------------------------------------------------------------------


_BESIDE = 'ARRAYS = np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "inputs.npz"))\n'
_EMBEDDED = """\
import base64, io

ARRAYS = np.load(io.BytesIO(base64.b64decode("{data}")))
"""


def _embedded(arrays: dict[str, Any]) -> str:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return _EMBEDDED.format(data=base64.b64encode(buffer.getvalue()).decode())


def _expected(stored: StoredCase, embed_arrays: bool) -> str:
    arrays: dict[str, Any] = {}
    to_json(stored, arrays)
    names = {_identity(array): name for name, array in arrays.items()}
    text = ""
    if names:
        text = _embedded(arrays) if embed_arrays else _BESIDE
    rows = "".join(_expected_row(stored, expectation, names) for expectation in stored.expectations)
    return f"{text}# function, arguments, what they give, how far each element may be off\nEXPECTED = [\n{rows}]\n\n\n"


def _expected_row(stored: StoredCase, expectation: Expectation, names: dict[object, str]) -> str:
    call = stored.case.calls[expectation.call]
    lists = (
        [_argument_source(argument, names) for argument in call.arguments],
        [_argument_source(output, names) for output in expectation.outputs],
        [_argument_source(tolerance, names) for tolerance in expectation.tolerances],
    )
    parts = "".join(f"        [{', '.join(entries)}],\n" for entries in lists)
    return f"    (\n        {call.function!r},\n{parts}    ),\n"


def _identity(array: np.ndarray[Any, Any]) -> object:
    return array.shape, array.tobytes()


def _argument_source(argument: Argument, names: dict[object, str]) -> str:
    if isinstance(argument, tuple):
        fields = "".join(f"{_argument_source(field, names)}, " for field in argument)
        return f"({fields.rstrip(' ')})"
    if isinstance(argument, Shape):
        return f"tvm.runtime.ShapeTuple({list(argument.extents)})"
    if isinstance(argument, np.ndarray):
        return _array_source(argument, names)
    return number_source(argument)


def _array_source(array: np.ndarray[Any, Any], names: dict[object, str]) -> str:
    text = array_source(array)
    if text is not None and (array.size <= INLINE_ELEMENTS or _identity(array) not in names):
        return text
    name = f'ARRAYS["{names[_identity(array)]}"]'
    return f'{name}.view("bfloat16")' if str(array.dtype) == "bfloat16" else name
