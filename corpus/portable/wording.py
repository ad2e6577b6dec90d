"""What TVM says, in the words of TVM 0.27: names that moved, and sentences that were worded otherwise. Pure text.

Messages and causes of two versions are compared in these words. A row is what an older version says, and what 0.27
says in its place; where a check was written anew with the same meaning, both become the sentence that people read.
"""

from __future__ import annotations

import re

ROWS: tuple[tuple[str, str], ...] = (
    # The analyzer of integers moved from arith to sym, scalar arithmetic from tirx to prim, sblocks into s_tir (0.27).
    (r"\barith(?=::|/|\.)", "sym"),
    (r"include/tvm/tirx/op\.h: tirx::", "include/tvm/ir/prim/op.h: prim::"),
    (r"\b(?:s_tir|prim)::(?=\w)", ""),
    (r"\babs\(|\bIntegerAbs\(", "abs("),
    # Types were struct info before 0.26.
    (r"struct_info\.h", "type.h"),
    (r"StructInfo", "Type"),
    (r"[Ss]truct[ _][Ii]nfo", "type"),
    (r"ffi::StructuralEqual\(\)\(\(\*it\)\.second(?:\.type\(\))?, new_buf(?:\.type\(\))?\)", "same_type(new_buf)"),
    (r"\bSymbolic Var\b", "Var"),
    # Types of scalars were dtypes before 0.27.
    (
        r"\((?:ffi::StructuralEqual\(\)\()?value(?:->ty|\.ty\(\))(?:,| ==) var->ty(?:\.as_or_throw<PrimType>\(\))?\)+"
        r" is false|value\.dtype\(\) == var\.dtype\(\) \([^)]*\) ?",
        "same_type(value, var)",
    ),
    (r"\(IsFloatType\(x\.ty\(\)\)\) is false|\(x\.dtype\(\)\.is_float\(\)\) is false", "is_float(x)"),
    (
        r"\(value_ty\.MatchesCode\([\w:, ]*\)\) is false|\(dtype\.is_int\(\)[\w.|() ]*\) is false",
        "is_int_or_uint_or_bool(value)",
    ),
    (r"\(extent_ty == var_ty\) is false|dom->extent\.dtype\(\) == var\.dtype\(\) \([^)]*\) ", "same_type(extent, var)"),
    (
        r"value_ty->dtype\.lanes == value_expr_ty->dtype\.lanes|"
        r"t\.get_lanes_or_vscale_factor\(\) == value\.dtype\(\)\.get_lanes_or_vscale_factor\(\)",
        "same_lanes(value)",
    ),
    (
        r"\b(p[ab])->(?:dtype\.is_uint\(\)|ty\.as_or_throw<PrimType>\(\)\.MatchesCode\(DLDataTypeCode::kDLUInt\))",
        r"is_uint(\1)",
    ),
    (r"\(!expr->ty\.IsMissing\(\)\) is false|\(ptr\) is false", "has_type(expr)"),
    (r"Check failed: \(value >= 0\) is false: ", ""),
    # Conversions of the FFI (0.26), and constants that moved to ir (0.27).
    (r"\brelax\.expr\.Constant\b", "ir.GenericConst"),
    (r"\brelax\.expr\.(Var|StringImm)\b", r"ir.\1"),
    (r"include/tvm/ir/cast\.h: Downcast", "cast"),
    (r"Downcast from (\S+) to (\S+) failed\.", r"Cannot treat type `\1` as type `\2`"),
    # Code generators.
    (r"CodeGenVM cannot (?:handle this intrinsic now|emit this Relax operator directly)", "CodeGenVM cannot emit"),
    (r"codegen::CodeGenC::Dispatch_", "codegen::CodeGenC::VisitExpr_"),
    (r"no code for the intrinsic", "Unresolved call"),
)
_ROWS = tuple((re.compile(old), new) for old, new in ROWS)


def in_words_of_today(text: str) -> str:
    """A message or a cause of any version, in the same words."""
    for old, new in _ROWS:
        text = old.sub(new, text)
    return text
