"""What a repro script checks, per oracle: lines of Python, written for readers of a bug report.

A check of a step looks at one pass: `before`, what the pass was given, and `after`, what it gave. A check of a trace
looks at `mod`, what all passes gave. A failed assertion is the bug, and where `error_is_the_bug` every exception is.
`name = PASS(module)` stands for one application of the pass. Names that the frame of the script provides besides:
tvm, relax, np, Module, TARGET, os, sys. Where the values of entry calls are compared is said in `corpus.repro_calls`.
No TVM is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus.build_checks import build_text
from corpus.dead_checks import DEAD_BINDING, DEAD_CODE, EQUAL, WITHOUT_DEAD_CODE
from corpus.memory_checks import ENDED, FITS
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.reference.errors import symptom_of
from oracles.verdict import ACROSS_PROCESSES, GIVEN_TO_CALL_TIR, WITHOUT_DEAD

OUT_OF_BOUNDS = symptom_of("out-of-bounds")
"""The symptom of what a run shows only by chance: by what lies beside the inputs, and whether that can be read."""
ENDS = (symptom_of("use-after-kill"), symptom_of("double-free"))  # A run may survive them; the text shows it.


@dataclass(frozen=True, slots=True)
class Check:
    """The lines of a check.

    each_pass: it looks at the last pass alone. error_is_the_bug: from where it begins, an exception is the bug.
    pass_is_checked: the last application of the pass is a part of it already. child: a native crash or a hang may
    show the bug. runs: entry calls are run and compared after the text, or in the loop that it ends with (see
    `corpus.repro_calls`). walled: their inputs stand between pages that cannot be read.
    """

    text: str
    each_pass: bool = True
    error_is_the_bug: bool = False
    pass_is_checked: bool = False
    child: bool = False
    runs: bool = False
    walled: bool = False


_SURVIVES = Check("", error_is_the_bug=True, pass_is_checked=True, child=True)

_WELL_FORMED = Check(
    """\
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
""",
    error_is_the_bug=True,
)

_FUNCTIONS = "functions = [f for f in after.functions.values() if isinstance(f, relax.Function)]\n"
_BINDINGS = "[(block, b) for f in functions for block in f.body.blocks for b in block.bindings]"

_PURITY = Check(
    f"""\
{_FUNCTIONS}\
for block, binding in {_BINDINGS}:
    impure = isinstance(binding.value, relax.If) or relax.analysis.contains_impure_call(binding.value)
    assert not (impure and isinstance(block, relax.DataflowBlock)), f"in a dataflow block: {{binding.value}}"
for function in functions:
    forced = bool(function.attrs and function.attrs.get("relax.force_pure", False))
    pure = forced or not relax.analysis.contains_impure_call(function)
    assert function.is_pure if forced else (pure or not function.is_pure), "an impure function is marked as pure"
"""
)

_NORMAL_FORM = Check(
    f"""\
{_FUNCTIONS}\
compound = (tvm.ir.Call, tvm.ir.TupleGetItem, relax.If, relax.SeqExpr, relax.Function)
for block, binding in {_BINDINGS}:
    for part in getattr(binding.value, "args", None) or getattr(binding.value, "fields", None) or []:
        assert not isinstance(part, compound), f"{{type(part).__name__}} nested in {{type(binding.value).__name__}}"
relax.analysis.well_formed(after)
""",
    error_is_the_bug=True,
)

_DEFINEDNESS = Check(
    """\
for name, function in after.functions_items():
    if isinstance(function, relax.Function):
        free = [*relax.analysis.free_vars(function), *relax.analysis.free_symbolic_vars(function)]
        free += [g for g in relax.analysis.all_global_vars(function) if g not in after.functions]
        assert not free, f"undefined: {free}"
        after[name] = function.with_attr("relax.force_pure", function.is_pure)  # Purity is not the question.
try:
    relax.analysis.well_formed(after)
except ValueError as error:
    assert "mpure" in str(error), error
""",
    error_is_the_bug=True,
)

_CONTRADICT = """\
def contradict(one, other):
    fails = relax.analysis.BaseCheckResult.FAIL_L0
    return relax.analysis.type_base_check(one, other) == fails == relax.analysis.type_base_check(other, one)

"""

_TYPE_SOUNDNESS = Check(
    f"""\
{_CONTRADICT}\
{_FUNCTIONS}\
for function in functions:
    one, other = function.ret_ty, function.body.body.ty
    assert not contradict(one, other), f"annotated to return {{one}}, returns {{other}}"
for block, binding in {_BINDINGS}:
    value, types = binding.value, [binding.value.ty]
    if isinstance(value, tvm.ir.Call) and isinstance(value.op, tvm.ir.Op):
        call = tvm.ir.Call(value.op, value.args, value.attrs, value.ty_args)
        types.append(relax.BlockBuilder().normalize(call).ty)
    if isinstance(value, tvm.ir.Tuple):
        types.append(tvm.ir.TupleType([field.ty for field in value.fields]))
    if isinstance(value, tvm.ir.Call) and isinstance(value.op, tvm.ir.GlobalVar):
        one, other = value.op.ty, after[value.op].ty
        assert not contradict(one, other), f"{{value.op.name_hint}} is called as {{one}}, but it is {{other}}"
    wrong = [] if isinstance(binding, relax.MatchCast) else [ty for ty in types if contradict(binding.var.ty, ty)]
    assert not wrong, f"{{binding.var.name}} is annotated {{binding.var.ty}}, but it is {{wrong[0]}}"
"""
)

_TAKEN = Check(
    f"""\
{_CONTRADICT}\
{_FUNCTIONS}\
for block, binding in {_BINDINGS}:
    call = binding.value
    if isinstance(call, tvm.ir.Call) and getattr(call.op, "name", "") in ("relax.call_tir", "relax.call_tir_inplace"):
        made = getattr(call.ty_args[0], "fields", call.ty_args) if call.op.name == "relax.call_tir" else []
        for given, param in zip([*(field.ty for field in call.args[1].fields), *made], after[call.args[0]].params):
            if isinstance(param.ty, tvm.tirx.BufferType):
                takes = relax.TensorType(list(param.ty.shape), str(param.ty.dtype))
                assert not contradict(given, takes), f"{{param.name}} takes {{takes}}, and is given {{given}}"
"""
)

_ATTRIBUTES = Check(
    """\
def attrs(node):
    return {key: str(node.attrs[key]) for key in node.attrs.keys()} if node.attrs else {}

for key in [*attrs(before), *before.global_infos]:
    assert key in attrs(after) or key in after.global_infos, f"module attribute or global info {key} is gone"
left = {g.name_hint: f for g, f in after.functions.items()}
for name, function in [(g.name_hint, f) for g, f in before.functions.items() if "global_symbol" in attrs(f)]:
    assert name in left, f"public function {name} is gone"
    for key, value in attrs(function).items():
        now = attrs(left[name]).get(key, "gone")
        assert now == value, f"attribute {key} of {name} was {value} and is {now}"
"""
)

_SIGNATURE = Check(
    f"""\
{_CONTRADICT}\
left = {{g.name_hint: f for g, f in after.functions.items()}}
for g, f in before.functions.items():
    if isinstance(f, relax.Function) and f.attrs and "global_symbol" in f.attrs:
        assert g.name_hint in left, f"public function {{g.name_hint}} is gone"
        old, new = ([*[p.ty for p in function.params], function.ret_ty] for function in (f, left[g.name_hint]))
        same = len(old) == len(new) and not any(map(contradict, old, new))
        assert same, f"{{g.name_hint}} had the signature {{old}} and has {{new}}"
"""
)

_LEGALISED = Check(
    f"""\
{_FUNCTIONS}\
for block, binding in {_BINDINGS}:
    op = getattr(binding.value, "op", None)
    left = isinstance(op, tvm.ir.Op) and op.get_attr("FLegalize") is not None
    assert not left, f"{{op.name}} is not legalised"
"""
)

_DETERMINISM = Check(
    f"""\
{EQUAL}\
# Copies lie at other addresses, which a result must not follow either.
copies = [tvm.ir.load_json(tvm.ir.save_json(before)) for _ in range(40)]
for given in [before, *copies]:
    again = PASS(given)
    assert not mismatch(after, again), f"two applications to one input differ: {{mismatch(after, again)}}"
"""
)

_ACROSS_PROCESSES = Check(
    """\
import subprocess
from tvm_ffi import structural_hash

found, copies = None, [tvm.ir.load_json(tvm.ir.save_json(before)) for _ in range(40)]
for given in copies:
    again = PASS(given)
    result = structural_hash(again, map_free_vars=True)
    assert found in (None, result), "equal modules at other addresses give different results"
    found = result
if "SAY_HASH" in os.environ:
    sys.exit(print(found))
# This script runs itself again with other seeds of Python's hashes.
for seed in range(8):
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "SAY_HASH": "1"}
    again = subprocess.run([sys.executable, __file__], env=environment, stdout=subprocess.PIPE, text=True)
    same = again.returncode != 0 or int(again.stdout.split()[-1]) == found
    assert same, f"a process with PYTHONHASHSEED={seed} gives another module"
"""
)

_IDEMPOTENCE = Check(
    f"""\
{EQUAL}\
again = PASS(after)
assert not mismatch(after, again), f"the second application changes the module: {{mismatch(after, again)}}"
""",
    error_is_the_bug=True,
)

_INPUT_UNCHANGED = Check(
    """\
text = before.script(show_meta=True)
after = PASS(before)
assert before.script(show_meta=True) == text, "the pass changed the module that it was given"
""",
    pass_is_checked=True,
)

_SEQUENTIAL = Check(
    f"""\
{EQUAL}\
with tvm.transform.PassContext(opt_level=10):
    at_once = tvm.transform.Sequential([PASSES])(before)
assert not mismatch(mod, at_once), f"one by one and all at once differ: {{mismatch(mod, at_once)}}"
""",
    each_pass=False,
    error_is_the_bug=True,
)

_ROUND_TRIP = Check(
    f"""\
{EQUAL}\
for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {{mismatch(module, again)}}"
""",
    error_is_the_bug=True,
)

_DEAD_CODE, _WITHOUT_DEAD_CODE, _DEAD_BINDING = (
    Check(text, error_is_the_bug=True) for text in (DEAD_CODE, WITHOUT_DEAD_CODE, DEAD_BINDING)
)

_BUILD = Check("tvm.compile(mod, TARGET)\n", each_pass=False, error_is_the_bug=True, child=True)

_EXECUTABLE = Check(
    "relax.build(mod, TARGET, relax_pipeline=None)\n", each_pass=False, error_is_the_bug=True, child=True
)

_NUMERIC = Check("", each_pass=False, child=True, runs=True)

_BESIDE_INPUTS = Check(
    """\
import ctypes, mmap

executable = tvm.compile(mod, TARGET)

def walled(array, at_end):  # An input between two pages that cannot be read, and "?" on its own pages.
    size = max(-(-array.nbytes // 4096), 1) * 4096
    memory = mmap.mmap(-1, size + 8192)
    memory.write(b"?" * len(memory))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for wall in (address, address + 4096 + size):
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(wall), 4096, 0)
    start = 4096 + at_end * (size - array.nbytes) // 64 * 64
    inner = np.frombuffer(memory, array.dtype, array.size, start).reshape(array.shape)
    inner[...] = array
    return tvm.runtime.from_dlpack(inner)

for at_end in (False, True):
""",
    each_pass=False,
    child=True,
    runs=True,
    walled=True,
)

_BUILD_AND_RUN = replace(_NUMERIC, error_is_the_bug=True)

_PIPELINES = Check(
    """\
for pipeline in ("default_build", relax.get_default_pipeline(TARGET)):
    executable = tvm.compile(mod, TARGET, relax_pipeline=pipeline)
    machine = relax.VirtualMachine(executable, tvm.cpu())
""",
    each_pass=False,
    error_is_the_bug=True,
    child=True,
    runs=True,
)

_OTHER_BUILDS = {
    row.name: Check(build_text(row), each_pass=False, error_is_the_bug=True, child=True, runs=row.runs)
    for row in CPU_BUILDS.values()
}

CHECKS: dict[str, Check] = {
    "survives": _SURVIVES,
    "hang": _SURVIVES,
    "input_unchanged": _INPUT_UNCHANGED,
    "purity": _PURITY,
    "normal_form": _NORMAL_FORM,
    "definedness": _DEFINEDNESS,
    "well_formed": _WELL_FORMED,
    "type_soundness": _TYPE_SOUNDNESS,
    "attributes": _ATTRIBUTES,
    "legalised": _LEGALISED,
    "executable": _EXECUTABLE,
    "determinism": _DETERMINISM,
    "idempotence": _IDEMPOTENCE,
    "sequential": _SEQUENTIAL,
    "dead_code": _DEAD_CODE,
    "dead_binding": _DEAD_BINDING,
    "round_trip": _ROUND_TRIP,
    "build": _BUILD,
    "numeric": _NUMERIC,
    "reference": _NUMERIC,
    "pipelines": _PIPELINES,
    **_OTHER_BUILDS,
}
"""Checks by the name of the oracle whose verdict they repeat."""


def check_for(
    oracle: str, *, has_expectation: bool, symptom: str = "", message: str = "", on_device: bool = False
) -> Check:
    """The check for an oracle: for a build, also what it gives, where that is known.

    What is out of bounds where `message` counts bytes is a tensor in a storage. on_device: inputs lie in the memory of
    a GPU, which no script can put a wall around.
    An oracle without a check of its own is repeated by numbers where they are known, else by survival.
    """
    if oracle == "dead_code" and message.startswith(WITHOUT_DEAD):
        return _WITHOUT_DEAD_CODE
    if symptom == ACROSS_PROCESSES:
        return _ACROSS_PROCESSES
    if oracle == "type_soundness" and message.startswith(GIVEN_TO_CALL_TIR):
        return _TAKEN
    if oracle == "attributes" and symptom == "changed signature":
        return _SIGNATURE
    if symptom in ENDS:
        return Check(ENDED)
    if symptom == OUT_OF_BOUNDS and " bytes at " in message:
        return Check(FITS)
    if symptom == OUT_OF_BOUNDS and has_expectation and not on_device:
        return _BESIDE_INPUTS
    if oracle == "build" and has_expectation:
        return _BUILD_AND_RUN
    return CHECKS.get(oracle, _NUMERIC if has_expectation else _SURVIVES)
