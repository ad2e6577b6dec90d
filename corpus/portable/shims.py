"""Gives an older TVM the names that repro scripts use, and says which TVMScript it does not read. TVM 0.25 and later.

Run as a file in the Python of that TVM (`fuzzer.replaying.server`), so it imports nothing of ours. It asks what is
there and not which version it is: a build from a branch has what it has. Nothing that is there is replaced, so that it
changes nothing on the TVM that scripts are written for, and can be run twice.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar

NAMES = (
    # module or class, the name that scripts use, where it was before
    ("tvm.s_tir.analysis", "verify_well_formed", "tvm.tirx.analysis.verify_well_formed"),
    ("tvm.s_tir.transform", "StmtSimplify", "tvm.tirx.transform.StmtSimplify"),
    ("tvm.ir", "Tuple", "tvm.relax.Tuple"),
    ("tvm.ir", "TupleGetItem", "tvm.relax.TupleGetItem"),
    ("tvm.ir", "Call", "tvm.relax.Call"),
    ("tvm.ir", "GenericConst", "tvm.relax.Constant"),
    ("tvm.relax", "VDevice", "tvm.ir.VDevice"),
    ("tvm.relax", "AnyType", "tvm.relax.ObjectStructInfo"),
    ("tvm.relax.analysis", "type_base_check", "tvm.relax.analysis.struct_info_base_check"),
    ("tvm.relax.transform", "UpdateParamType", "tvm.relax.transform.UpdateParamStructInfo"),
    ("tvm.script.relax", "Any", "tvm.script.relax.Object"),
    *(
        (module, new, f"{module}.{old}")
        for module in ("tvm.tirx.script", "tvm.script.tirx")
        for new, old in (
            ("BitwiseAnd", "bitwise_and"),
            ("BitwiseOr", "bitwise_or"),
            ("BitwiseXor", "bitwise_xor"),
            ("BitwiseNot", "bitwise_not"),
            ("LShift", "shift_left"),
            ("RShift", "shift_right"),
        )
    ),
)
FIELDS = (
    # class, the field that scripts read, the field that it was before
    ("tvm.ir.RelaxExpr", "ty", "struct_info"),
    ("tvm.relax.Function", "ret_ty", "ret_struct_info"),
    ("tvm.relax.Call", "ty_args", "sinfo_args"),
)


def add_names() -> list[str]:
    """Adds what is lacking, where what it was before is there; says what it has added."""
    added = []
    for place, name, source in NAMES:
        where, what = _found(place), _found(source)
        if where is not None and what is not None and not hasattr(where, name):
            setattr(where, name, what)
            added.append(f"{place}.{name}")
    for place, name, field in FIELDS:
        owner = _found(place)
        if owner is not None and hasattr(owner, field) and not hasattr(owner, name):
            setattr(owner, name, property(attrgetter(field)))
            added.append(f"{place}.{name}")
    return added


def _found(path: str) -> Any:
    """A module, or what it has under a name; None where it is not there."""
    try:
        return import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


_FRAME = """
@I.ir_module
class Module:
    @R.function
    def main({parameter}) -> R.Tuple({result}):
        {body}
        return (a,)
"""
_TENSOR = 'R.Tensor((1,), dtype="float32")'
PROBES = {
    "type variables": _FRAME.format(
        parameter='x: R.Tensor((n,), dtype="float32")', result='R.Tensor((n,), dtype="float32")', body="a = R.abs(x)"
    ),
    "out_ty": _FRAME.format(
        parameter=f"x: {_TENSOR}", result=_TENSOR, body=f'a = R.call_dps_packed("f", (x,), out_ty={_TENSOR})'
    ),
    "scalar parameters": _FRAME.format(parameter="s: T.int64", result='R.Prim("int64")', body="a = s"),
}
"""TVMScript of TVM 0.27, by the name of what is special in it; `corpus.portable.text` rewrites what is not read."""


def not_read() -> list[str]:
    """The names of the probes that this TVM does not read."""
    try:
        import tvm
        from tvm.script import ir, relax, tirx
    except ImportError:
        return list(PROBES)
    names = {"I": ir, "R": relax, "T": tirx, "n": TypeVar("n"), "tvm": tvm}
    refused = []
    for name, text in PROBES.items():
        try:
            tvm.script.from_source(text, extra_vars=names)
        except Exception:  # noqa: BLE001 - in whatever way, it is not read
            refused.append(name)
    return refused


ADDED = add_names()
