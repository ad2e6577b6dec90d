"""Operators of TVM 0.27 that are in no row and that the reference does not interpret, and why.

A new operator of TVM belongs into a family file; one that is here fails the tests once it has a row.
"""

from __future__ import annotations

from generators.operators.row import ExcludedOperator

_DISCO = (
    "a collective of Disco sessions: its PrimFunc calls runtime.disco.*, which needs one process per worker, so a "
    "module with it does not run alone"
)
_SHARDED = (
    "an operator on DTensors that only the distributed passes (PropagateSharding, LowerDistIR) understand; it has no "
    "meaning on plain tensors"
)
_HEADER = (
    "reads the header of a DLTensor at run time through a PrimFunc on a handle; relax.op has no builder for it, and "
    "the values (offsets, strides, type codes) belong to the memory that a pass may choose freely"
)
EXCLUDED: dict[str, ExcludedOperator] = {
    row.name: row
    for row in (
        ExcludedOperator("relax.ccl.allgather", _DISCO),
        ExcludedOperator("relax.ccl.allreduce", _DISCO),
        ExcludedOperator("relax.ccl.broadcast_from_worker0", _DISCO),
        ExcludedOperator("relax.ccl.scatter_from_worker0", _DISCO),
        ExcludedOperator("relax.dist.annotate_sharding", _SHARDED),
        ExcludedOperator("relax.dist.call_tir_local_view", _SHARDED),
        ExcludedOperator("relax.dist.redistribute", _SHARDED),
        ExcludedOperator("relax.dist.redistribute_replica_to_shard", _SHARDED),
        ExcludedOperator("relax.inspect.tensor_byte_offset", _HEADER),
        ExcludedOperator("relax.inspect.tensor_dtype_bits", _HEADER),
        ExcludedOperator("relax.inspect.tensor_dtype_code", _HEADER),
        ExcludedOperator("relax.inspect.tensor_dtype_lanes", _HEADER),
        ExcludedOperator("relax.inspect.tensor_elem_offset", _HEADER),
        ExcludedOperator("relax.inspect.tensor_ndim", _HEADER),
        ExcludedOperator("relax.inspect.tensor_shape_i", _HEADER),
        ExcludedOperator("relax.inspect.tensor_stride_i", _HEADER),
        ExcludedOperator(
            "relax.nn.attention_var_len",
            "LegalizeOps refuses it: it compiles only where BYOC hands it to a library (CUTLASS) that the wheel lacks",
        ),
        ExcludedOperator(
            "relax.call_inplace_packed",
            "an external function that overwrites an operand and counts as pure: right only while no one else holds "
            "the operand, which the caller promises and no pass checks",
        ),
        ExcludedOperator(
            "relax.call_py_func",
            "calls a Python function of a BasePyModule by name; a module compiled without that object cannot run it",
        ),
        ExcludedOperator(
            "relax.vm.call_tir_dyn",
            "no pass of 0.27 makes it any more; it called PrimFuncs with scalars taken from a shape on the VM's heap",
        ),
    )
}
"""Rows by operator name."""
