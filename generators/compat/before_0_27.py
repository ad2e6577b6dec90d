"""What 0.27 renamed: its names, and where 0.26 has the same things."""

from __future__ import annotations

from generators.compat.names import Field, Made, Name, Row
from generators.compat.structural import structural_map, structural_walk

ROWS: tuple[Row, ...] = (
    Name("tvm.sym", "tvm.arith"),
    Name("tvm.ir.GenericConst", "tvm.relax.Constant"),
    Field("tvm.relax.Constant", "value", "data"),
    Name("tvm.ir.Tuple", "tvm.relax.Tuple"),
    Name("tvm.ir.TupleGetItem", "tvm.relax.TupleGetItem"),
    Name("tvm.ir.StringImm", "tvm.tirx.StringImm"),
    Name("tvm.relax.VDevice", "tvm.ir.VDevice"),
    Name("tvm.relax.global_info", "tvm.ir.global_info"),
    Name("tvm.ir.TensorLoad", "tvm.tirx.BufferLoad"),
    Field("tvm.tirx.BufferLoad", "source", "buffer"),
    Name("tvm.ir.TensorRegion", "tvm.tirx.BufferRegion"),
    Field("tvm.tirx.BufferRegion", "source", "buffer"),
    Name("tvm.s_tir.SBlock", "tvm.tirx.SBlock"),
    Name("tvm.s_tir.SBlockRealize", "tvm.tirx.SBlockRealize"),
    Name("tvm.s_tir.MatchBufferRegion", "tvm.tirx.MatchBufferRegion"),
    Name("tvm.s_tir.TensorIntrin", "tvm.tirx.TensorIntrin"),
    Name("tvm.s_tir.analysis.verify_well_formed", "tvm.tirx.analysis.verify_well_formed"),
    Name("tvm.tirx.BitwiseAnd", "tvm.tirx.bitwise_and"),
    Name("tvm.tirx.BitwiseOr", "tvm.tirx.bitwise_or"),
    Name("tvm.tirx.BitwiseXor", "tvm.tirx.bitwise_xor"),
    Name("tvm.tirx.BitwiseNot", "tvm.tirx.bitwise_not"),
    Name("tvm.tirx.LShift", "tvm.tirx.shift_left"),
    Name("tvm.tirx.RShift", "tvm.tirx.shift_right"),
    Made("tvm_ffi.structural_map", structural_map),
    Made("tvm_ffi.structural_walk", structural_walk),
)

KINDS = {"BufferLoad": "tvm.ir.TensorLoad"}
"""Names of classes of nodes in 0.26, and the class that has their place in 0.27."""
