"""What 0.26 renamed and joined: its names, and where 0.25 has the same things.

In 0.25 the types of Relax are struct info, and expressions, variables and calls of Relax and TIR are classes of two
families. Buffers are no variables there: they have the fields of their type themselves.
"""

from __future__ import annotations

from typing import Any

from generators.compat.names import Computed, Either, Field, Made, Name, Row, found


class BufferType:
    """The type of a buffer, which has its fields itself."""

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer

    def __getattr__(self, name: str) -> Any:
        if name == "storage_scope":
            return self._buffer.scope()
        return getattr(self._buffer, name)


def _scalar_type(expr: Any) -> Any:
    """The type of an expression of TIR: what a pointer points to is with its variable."""
    annotated = getattr(expr, "type_annotation", None)
    if annotated is not None and str(expr.dtype) != "handle":
        return annotated
    scalar = found("tvm.ir.PrimType")
    if str(expr.dtype) == "handle":
        return annotated if hasattr(annotated, "element_type") else found("tvm.ir.PointerType")(scalar("void"))
    return scalar(expr.dtype)


ROWS: tuple[Row, ...] = (
    Either("tvm.ir.Call", ("tvm.relax.Call", "tvm.tirx.Call")),
    Either("tvm.ir.Expr", ("tvm.ir.BaseExpr",)),
    Either("tvm.ir.Var", ("tvm.relax.Var", "tvm.tirx.Var", "tvm.tirx.Buffer")),
    Name("tvm.relax.AnyType", "tvm.relax.ObjectStructInfo"),
    Name("tvm.relax.distributed.DTensorType", "tvm.relax.distributed.DTensorStructInfo"),
    Name("tvm.relax.analysis.type_base_check", "tvm.relax.analysis.struct_info_base_check"),
    Name("tvm.relax.expr._update_type", "tvm.relax.expr._update_struct_info"),
    Name("tvm.script.relax.Any", "tvm.script.relax.Object"),
    Field("tvm.ir.RelaxExpr", "ty", "struct_info_"),
    Field("tvm.relax.Var", "name", "name_hint"),
    Field("tvm.relax.MatchCast", "ty", "struct_info"),
    Field("tvm.relax.Function", "ret_ty", "ret_struct_info"),
    Field("tvm.relax.Call", "ty_args", "sinfo_args"),
    Computed("tvm.ir.PrimExpr", "ty", _scalar_type),
    Computed("tvm.tirx.Buffer", "ty", BufferType),
    Computed("tvm.tirx.DeclBuffer", "data", lambda declared: declared.buffer.data),
    Made("tvm.tirx.BufferType", BufferType),
)
