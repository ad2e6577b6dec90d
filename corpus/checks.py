"""What a repro script checks, per oracle: the text of a Python function, written for readers of a bug report.

Step checks are `check(before, after, make)` and look at one pass; trace checks are `check(module)` and look at the
whole case. Both return one line of why when the bug is there, else None. Names that the frame of the script
provides: tvm, relax, np, MODULE, PASSES, TARGET, EXPECTED, applied, run. No TVM is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

IMPORT_EQUAL = "from tvm_ffi import structural_equal, get_first_structural_mismatch as mismatch\n"


@dataclass(frozen=True, slots=True)
class Check:
    """The text of `check`; whether it is applied after each pass, and whether an error of a pass is the bug itself."""

    text: str
    each_pass: bool = True
    error_is_the_bug: bool = False
    runs: bool = False
    """Whether it needs `run` and EXPECTED."""


_SURVIVES = Check("", error_is_the_bug=True)

_WELL_FORMED = Check(
    """\
def check(before, after, make):
    try:
        relax.analysis.well_formed(after)
        for f in after.functions.values():
            if isinstance(f, tvm.tirx.PrimFunc):
                sblocks = bool(f.attrs and f.attrs.get("s_tir", False))
                (tvm.s_tir if sblocks else tvm.tirx).analysis.verify_well_formed(f)
    except Exception as error:
        return f"ill-formed: {error}"
"""
)

_FUNCTIONS = """\
def functions(mod):
    return [(g.name_hint, f) for g, f in mod.functions.items() if isinstance(f, relax.Function)]


"""

_PURITY = Check(
    _FUNCTIONS
    + """\
def check(before, after, make):
    for name, function in functions(after):
        for block in function.body.blocks:
            for binding in block.bindings:
                op = getattr(binding.value, "op", None)
                impure = isinstance(op, tvm.ir.Op) and op.get_attr("FPurity") is False
                if impure and isinstance(block, relax.DataflowBlock):
                    return f"{name}: impure {op.name} in a dataflow block"
        forced = bool(function.attrs and function.attrs.get("relax.force_pure", False))
        if function.is_pure and not forced and relax.analysis.contains_impure_call(function):
            return f"{name}: impure call in a pure function"
"""
)

_NORMAL_FORM = Check(
    _FUNCTIONS
    + """\
def check(before, after, make):
    compound = (tvm.ir.Call, tvm.ir.TupleGetItem, relax.If, relax.SeqExpr, relax.Function)
    for name, function in functions(after):
        if not isinstance(function.body, relax.SeqExpr):
            return f"{name}: the body is not a sequence"
        for block in function.body.blocks:
            for binding in block.bindings:
                for part in getattr(binding.value, "args", None) or getattr(binding.value, "fields", None) or []:
                    if isinstance(part, compound):
                        return f"{name}: {type(part).__name__} nested in {type(binding.value).__name__}"
    return check_verifier(after)


def check_verifier(after):
    try:
        relax.analysis.well_formed(after)
    except Exception as error:
        return f"ill-formed: {error}"
"""
)

_DEFINEDNESS = Check(
    _FUNCTIONS
    + """\
def check(before, after, make):
    for name, function in functions(after):
        free = [*relax.analysis.free_vars(function), *relax.analysis.free_symbolic_vars(function)]
        if free:
            return f"{name}: undefined {free}"
        for callee in relax.analysis.all_global_vars(function):
            if callee not in after.functions:
                return f"{name}: undefined {callee}"
    try:
        relax.analysis.well_formed(after)
    except Exception as error:
        return f"ill-formed: {error}"
"""
)

_TYPE_SOUNDNESS = Check(
    _FUNCTIONS
    + """\
def check(before, after, make):
    for name, function in functions(after):
        for block in function.body.blocks:
            for binding in block.bindings:
                value, said = binding.value, binding.var.ty
                known = [value.ty]
                if isinstance(value, tvm.ir.Call) and isinstance(value.op, tvm.ir.Op):
                    fresh = tvm.ir.Call(value.op, value.args, value.attrs, value.ty_args)
                    known.append(relax.BlockBuilder().normalize(fresh).ty)
                if isinstance(value, tvm.ir.Tuple):
                    known.append(tvm.ir.TupleType([field.ty for field in value.fields]))
                for ty in known:
                    if not isinstance(binding, relax.MatchCast) and contradict(said, ty):
                        return f"{name}: {binding.var.name} is annotated {said}, but it is {ty}"
        if contradict(function.ret_ty, function.body.body.ty):
            return f"{name}: returns {function.body.body.ty}, but is annotated {function.ret_ty}"


def contradict(one, other):
    fails = relax.analysis.BaseCheckResult.FAIL_L0
    return relax.analysis.type_base_check(one, other) == fails == relax.analysis.type_base_check(other, one)
"""
)

_ATTRIBUTES = Check(
    """\
def entries(node):
    return {key: node.attrs[key] for key in node.attrs.keys()} if node.attrs else {}


def check(before, after, make):
    left = {g.name_hint: f for g, f in before.functions.items() if "global_symbol" in entries(f)}
    right = {g.name_hint: f for g, f in after.functions.items()}
    for key in [*entries(before), *before.global_infos]:
        if key not in entries(after) and key not in after.global_infos:
            return f"module attribute or global info {key} is gone"
    for name, function in left.items():
        if name not in right:
            return f"public function {name} is gone"
        if isinstance(function, relax.Function) and len(function.params) != len(right[name].params):
            return f"public function {name} has another number of parameters"
        for key, value in entries(function).items():
            if key not in entries(right[name]):
                return f"attribute {key} of {name} is gone"
            if str(value) != str(right[name].attrs[key]):
                return f"attribute {key} of {name} has another value"
"""
)

_LEGALISED = Check(
    _FUNCTIONS
    + """\
def check(before, after, make):
    for name, function in functions(after):
        for block in function.body.blocks:
            for binding in block.bindings:
                op = getattr(binding.value, "op", None)
                if isinstance(op, tvm.ir.Op) and op.get_attr("FLegalize") is not None:
                    return f"{name}: {op.name} is not legalised"
"""
)

_DETERMINISM = Check(
    IMPORT_EQUAL
    + """\


def check(before, after, make):
    again = make()(before)
    if not structural_equal(after, again):
        return f"two applications to one input differ: {mismatch(after, again)}"
"""
)

_IDEMPOTENCE = Check(
    IMPORT_EQUAL
    + """\


def check(before, after, make):
    try:
        again = make()(after)
    except Exception as error:
        return f"the second application raises {type(error).__name__}: {error}"
    if not structural_equal(after, again):
        return f"the second application changes the module: {mismatch(after, again)}"
"""
)

_INPUT_UNCHANGED = Check(
    """\
def check(before, after, make):
    # `after` was made from another copy; this one is watched.
    text = before.script(show_meta=True)
    make()(before)
    if before.script(show_meta=True) != text:
        return "the pass changed the module that it was given"
"""
)

_SEQUENTIAL = Check(
    IMPORT_EQUAL
    + """\


def check(module):
    with tvm.transform.PassContext(opt_level=10):
        at_once = tvm.transform.Sequential([make() for make in PASSES])(module)
    one_by_one = applied(module, PASSES)
    if not structural_equal(one_by_one, at_once):
        return f"all passes at once and one by one differ: {mismatch(one_by_one, at_once)}"
""",
    each_pass=False,
    error_is_the_bug=True,
)

_ROUND_TRIP = Check(
    IMPORT_EQUAL
    + """\


def check(before, after, make):
    for mod in (before, after):
        if not structural_equal(mod, tvm.ir.load_json(tvm.ir.save_json(mod))):
            return "JSON does not load to the same module"
        try:
            again = tvm.script.from_source(mod.script(show_meta=True))
        except Exception as error:
            return f"the printed script does not parse: {error}"
        if not structural_equal(mod, again):
            return f"the printed script is another module: {mismatch(mod, again)}"
"""
)

_DEAD_CODE = Check(
    IMPORT_EQUAL
    + """\


def check(before, after, make):
    live = relax.transform.DeadCodeElimination()
    for g, function in before.functions.items():
        if isinstance(function, relax.Function):
            copy = relax.utils.copy_with_new_vars(function)
        else:
            copy = tvm.ir.load_json(tvm.ir.save_json(function))
        copy = copy.without_attr("global_symbol") if copy.attrs and "global_symbol" in copy.attrs else copy
        with_dead = before.clone()
        with_dead.update_func(tvm.ir.GlobalVar("nobody_calls_this"), copy)
        try:
            result = make()(with_dead)
        except Exception as error:
            return f"a dead copy of {g.name_hint} makes the pass raise {type(error).__name__}: {error}"
        if not structural_equal(live(result), live(after)):
            return f"a dead copy of {g.name_hint} changes the live part"
"""
)

_BUILD = Check(
    """\
def check(module):
    tvm.compile(applied(module, PASSES), TARGET)
""",
    each_pass=False,
    error_is_the_bug=True,
)

_EXECUTABLE = Check(
    """\
def check(module):
    relax.build(applied(module, PASSES), TARGET, relax_pipeline=None)
""",
    each_pass=False,
    error_is_the_bug=True,
)

_COMPARE = """\
def differ(got, wanted, tolerances, what):
    if len(got) != len(wanted):
        return f"{what}: {len(got)} outputs instead of {len(wanted)}"
    for number, (a, b, tolerance) in enumerate(zip(got, wanted, tolerances)):
        if a.shape != b.shape:
            return f"{what}: output {number} has shape {a.shape} instead of {b.shape}"
        if a.dtype != b.dtype and "V" not in a.dtype.kind + b.dtype.kind:
            return f"{what}: output {number} is {a.dtype} instead of {b.dtype}"
        a, b = a.astype("float64"), b.astype("float64")
        wrong = ~((np.isnan(a) & np.isnan(b)) | (a == b) | (np.abs(a - b) <= tolerance))
        if wrong.any():
            return f"{what}: output {number} is {a[wrong].flat[0]} instead of {b[wrong].flat[0]}"


"""

_NUMERIC = Check(
    _COMPARE
    + """\
def check(module):
    module = applied(module, PASSES)
    for function, arguments, wanted, tolerances in EXPECTED:
        why = differ(run(module, function, arguments), wanted, tolerances, function)
        if why:
            return why
""",
    each_pass=False,
    runs=True,
)

_BUILD_AND_RUN = replace(_NUMERIC, error_is_the_bug=True)

_PIPELINES = Check(
    _COMPARE
    + """\
def check(module):
    module = applied(module, PASSES)
    for name in ("default_build", "target default"):
        pipeline = relax.get_default_pipeline(TARGET) if name == "target default" else name
        for function, arguments, wanted, tolerances in EXPECTED:
            why = differ(run(module, function, arguments, pipeline), wanted, tolerances, f"{name}, {function}")
            if why:
                return why
""",
    each_pass=False,
    error_is_the_bug=True,
    runs=True,
)

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
    "round_trip": _ROUND_TRIP,
    "build": _BUILD,
    "numeric": _NUMERIC,
    "reference": _NUMERIC,
    "pipelines": _PIPELINES,
}
"""Checks by the name of the oracle whose verdict they repeat."""


def check_for(oracle: str, *, has_expectation: bool) -> Check:
    """The check for an oracle: for a build, also what it gives, where that is known.

    An oracle without a check of its own is repeated by numbers where they are known, else by survival.
    """
    if oracle == "build" and has_expectation:
        return _BUILD_AND_RUN
    return CHECKS.get(oracle, _NUMERIC if has_expectation else _SURVIVES)
