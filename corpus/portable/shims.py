"""Gives an older TVM the names that repro scripts use, and says which TVMScript it does not read. TVM 0.25 and later.

Run as a file in the Python of that TVM (`fuzzer.replaying.server`), so it imports the names of ours that need TVM alone
(`generators.compat`), which passfuzz itself runs by on an older TVM. It asks what is
there and not which version it is: a build from a branch has what it has. Nothing that is there is replaced, so that it
changes nothing on the TVM that scripts are written for, and can be run twice.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds our rooms."""
ROWS = (
    # What TVM 0.26 renamed, the newer name first. `generators.compat` has what later versions did.
    ("tvm.ir.Call", "tvm.relax.Call"),
    ("tvm.relax.AnyType", "tvm.relax.ObjectStructInfo"),
    ("tvm.relax.analysis.type_base_check", "tvm.relax.analysis.struct_info_base_check"),
    ("tvm.relax.transform.UpdateParamType", "tvm.relax.transform.UpdateParamStructInfo"),
    ("tvm.script.relax.Any", "tvm.script.relax.Object"),
    # What only scripts say, as passfuzz itself takes passes by `generators.compat.texts`.
    ("tvm.s_tir.transform.StmtSimplify", "tvm.tirx.transform.StmtSimplify"),
    *(
        (f"{dialect}.{new}", f"{dialect}.{old}")
        for dialect in ("tvm.tirx.script", "tvm.script.tirx")
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
    # class, the field that scripts read, the field that it was before 0.26
    ("tvm.ir.RelaxExpr", "ty", "struct_info"),
    ("tvm.relax.Function", "ret_ty", "ret_struct_info"),
    ("tvm.relax.Call", "ty_args", "sinfo_args"),
)


def add_names() -> list[str]:
    """Adds what is lacking, where what it was before is there; says what it has added."""
    sys.path.insert(0, str(ROOT))
    try:
        names = import_module("generators.compat.names")
        shared = import_module("generators.compat.before_0_27").ROWS
        own = [names.Name(new, old) for new, old in ROWS] + [names.Field(*field) for field in FIELDS]
        return [new for row in (*own, *shared) if (new := _supplied(names, row))]
    except ImportError:  # no TVM of 0.25 or later
        return []
    finally:
        sys.path.remove(str(ROOT))


def _supplied(names: Any, row: Any) -> str:
    """The name that a row has added, "" for none: it is there, or what it was before is not."""
    whole = f"{row.owner}.{row.new}" if isinstance(row, names.Field) else row.new
    if names.there(whole):
        return ""
    try:
        if isinstance(row, names.Field) and not hasattr(names.found(row.owner), row.old):
            return ""
        names.supply([row])
    except (AttributeError, ImportError):
        return ""
    return whole if names.there(whole) else ""


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
