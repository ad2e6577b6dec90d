"""The constructs of TVM that the interpreter does not know, and why: the complement of its tables.

Entries are patterns (see `fnmatch`) of TVM's registered names. Every name matches one entry, and every entry a name. A
program that has such a construct all the same raises `Unsupported` with its name.
"""

from __future__ import annotations

from typing import NamedTuple


class Exclusion(NamedTuple):
    """Names that are not covered, as a pattern, and the reason."""

    pattern: str
    reason: str


def _because(reason: str, *patterns: str) -> tuple[Exclusion, ...]:
    return tuple(Exclusion(pattern, reason) for pattern in patterns)


NODES: tuple[Exclusion, ...] = (
    *_because("the function itself: its signature and its body are decoded", "tirx.PrimFunc"),
    *_because("read with the SBlockRealize that holds it", "s_tir.SBlock", "s_tir.MatchBufferRegion"),
    *_because("read with the loop, block or attribute that holds it", "tirx.IterVar", "ir.Range"),
    *_because("read where an argument, a message or an attribute is a string", "ir.StringImm"),
    *_because("the callee of a Call, known by its name", "ir.Op", "ir.GlobalVar"),
    *_because("type of an expression", "ir.*Type", "tirx.*Type"),
    *_because("abstract base class", "ir.Expr", "ir.Constant", "ir.BaseFunc", "ir.Attrs", "tirx.Stmt"),
    *_because("a note: reads and writes of a block are checked access by access", "ir.TensorRegion"),
    *_because("occurs in Relax functions only, see `relax_nodes`", "ir.Tuple", "ir.TupleGetItem", "ir.GenericConst"),
    *_because("builder's placeholder, which no finished module holds (ir/expr.py)", "ir.OpaqueExpr"),
    *_because(
        "module, names and places of source text",
        *("ir.IRModule", "ir.DictAttrs", "ir.EnvFunc", "ir.GlobalInfo", "ir.UniqueNameSupply", "ir.ArgumentInfo"),
        *("ir.Source*", "ir.Span", "ir.SequentialSpan"),
    ),
    *_because("a result of analysis", "ir.IntSet", "ir.PrimExprConvertible"),
    *_because("index maps are applied by the schedule primitive that takes them", "tirx.IndexMap", "s_tir.S*Layout"),
    *_because(
        "tile programs: LowerTIRx turns them into CUDA kernels with PTX in a pipeline of their own, which has no pass "
        "of the pass table in front of it",
        *("tirx.TilePrimitiveCall", "tirx.LambdaExpr", "tirx.DispatchContext", "tirx.ExecScope", "tirx.ScopeIdDef*"),
        *("tirx.Layout", "tirx.Axis", "tirx.Iter", "tirx.TileLayout", "tirx.ComposeLayout"),
    ),
    *_because("attributes of an excluded call", "tirx.TensorMapEncodeTiledAttr"),
    *_because("how many threads a kernel call starts: read with the call", "tirx.CallFFIKernelAttr"),
    *_because("passes and their configuration", "tirx.PrimFuncPass", "tirx.transform.*", "s_tir.transform.*"),
    *_because(
        "schedules are programs that change a module, not part of one",
        *("s_tir.Schedule*", "s_tir.schedule.*", "s_tir.Instruction*", "s_tir.Trace", "s_tir.StmtSRef"),
        *("s_tir.SBlockRV", "s_tir.LoopRV", "s_tir.Dependency", "s_tir.SBlockScope", "s_tir.SBlockDependenceInfo"),
        *("s_tir.TensorIntrin",),
    ),
    *_because("tuning: searches for schedules", "s_tir.meta_schedule.*"),
)
"""Registered types of the dialects of TIR that are not decoded as statement or expression."""

_TENSOR_CORES = "matrix units of a GPU: only tensorised schedules make it, and its operands have no layout in TIR"
_PTX = "instruction of some generations of NVIDIA GPUs: made by tile programs and by tensor intrinsics written by hand"
_OTHER_DEVICES = "instruction of a device that is no target here"
_TOOLS = "for measuring and debugging by hand"

INTRINSICS: tuple[Exclusion, ...] = (
    *_because(_PTX, "tirx.ptx.*", "tirx.ptx_legacy.*", "tirx.s_tir.ldg32", "tirx.tensormap_encode_tiled"),
    *_because("helper of tile programs in CUDA C, no meaning outside of it", "tirx.cuda.[!_]*"),
    *_because("operation on tiles, gone after LowerTIRx", "tirx.tile.*", "tirx.selector", "tirx.filter"),
    *_because(_TENSOR_CORES, "tirx.mma_*", "tirx.tvm_bmma_sync"),
    *_because("memory shared by several GPUs: a program of many processes", "tirx.nvshmem.*"),
    *_because(_OTHER_DEVICES + " (Trainium)", "tirx.nki.*"),
    *_because(_OTHER_DEVICES + " (Metal)", "tirx.metal.*", "tirx.*simdgroup*", "tirx.cooperative_tensor_*"),
    *_because(_OTHER_DEVICES + " (WebGPU)", "tirx.webgpu.*"),
    *_because(_OTHER_DEVICES + " (Vulkan)", "tirx.call_spirv_pure_glsl450"),
    *_because(_OTHER_DEVICES + " (Adreno textures)", "tirx.texture2d_*"),
    *_because(_OTHER_DEVICES + " (Hexagon)", "tirx.dma_*"),
    *_because("sums of lanes that tensor intrinsics written by hand make (s_tir/tensor_intrin)", "tirx.dp4a"),
    *_because("no order between threads, so no one result", "tirx.atomic_add"),
    *_because("ends one thread: made by tile programs", "tirx.thread_return"),
    *_because("fixed-point product of quantised networks; no Relax operator makes it", "tirx.q_multiply_shift*"),
    *_because("an address for a tensor intrinsic or a foreign function", "tirx.type_annotation"),
    *_because("address arithmetic of tile programs", "tirx.buffer_offset", "tirx.ptr_byte_offset"),
    *_because("a name that only a lowering rule of LLVM is attached to, no operator", "tirx.ctpop"),
    *_because(
        "registers of Relax functions in exec_mode compiled: made by VMTIRCodeGen, after all passes",
        *("tirx.anylist_*", "tirx.TVMBackendAnyList*"),
    ),
    *_because("a PrimFunc that calls a packed one by name: Relax lowering makes none", "tirx.tvm_call_cpacked*"),
    *_because("state of an accelerator and its driver", "tirx.tvm_context_id", "tirx.tvm_static_handle"),
    *_because("parameter of a graph executor that is gone", "tirx.lookup_param"),
    *_because("barrier over a whole grid, which no pipeline asks for", "tirx.tvm_global_barrier_kinit"),
    *_because("a place that tile programs fill in", "tirx.tvm_kernel_replace_point"),
    *_because("several values as one argument: code generators for accelerators", "tirx.tvm_tuple"),
    *_because("reports a failed call, and no call fails here", "tirx.tvm_throw_last_error"),
    *_because(_TOOLS, "tirx.timer_*"),
)
"""Registered operators of TIR."""

RELAX: tuple[Exclusion, ...] = (
    *_because("read with the SeqExpr that holds it", "relax.expr.BindingBlock", "relax.expr.DataflowBlock"),
    *_because("evaluated one after the other", "relax.expr.VarBinding", "relax.expr.MatchCast"),
    *_because("abstract base class", "relax.expr.Binding"),
    *_because("the callee of a Call, known by its name", "relax.expr.ExternFunc"),
)
"""Registered kinds of Relax expressions and bindings that are no expression with a value of its own."""

_MAKES_BYTECODE = "written by CodeGenVM while it makes bytecode: no module holds a call of it"
_SERVING = "state of a language model that is served, by calls of its own; no pass brings it in"

RUNTIME: tuple[Exclusion, ...] = (
    *_because(
        _MAKES_BYTECODE,
        *("vm.builtin.alloc_storage", "vm.builtin.alloc_tensor", "vm.builtin.copy", "vm.builtin.make_tuple"),
        *("vm.builtin.null_value", "vm.builtin.read_if_cond"),
    ),
    *_because("the lowered relax.vm.call_tir_dyn, which no pass makes any more", "vm.builtin.call_tir_dyn"),
    *_because(_SERVING, "vm.builtin.*kv_cache_*", "vm.builtin.kv_state_*", "vm.builtin.rnn_state_*"),
    *_because("sampling from logits by a caller in C++", "vm.builtin.sample_*", "vm.builtin.multinomial_from_uniform"),
    *_because("sampling from logits by a caller in C++", "vm.builtin.apply_*"),
    *_because("weights on disk", "vm.builtin.param_*_from_cache*", "vm.builtin.tensor_cache.*"),
    *_because("calls a function of the user's in Python", "vm.builtin.*py_func*"),
    *_because(_TOOLS, "vm.builtin.debug_print", "vm.builtin.invoke_debug_func", "vm.builtin.memory_manager.clear"),
    *_because("nothing asks for it: a string is no parameter of a Relax function", "vm.builtin.check_string_info"),
)
"""Registered run-time functions of the VM."""
