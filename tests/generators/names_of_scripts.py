"""The dotted names that plain TVMScript may use, read off TVM: `generators/script_names.txt` is what this prints.

A function is on the list for where TVM defines it: operators, constructors of the IR, frames of the builder. Left out
are functions that call what they are given, give back what they are given, or define and register something.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

HOMES = (
    "tvm.ir.expr",
    "tvm.ir.prim",
    "tvm.ir.type",
    "tvm.relax.expr",
    "tvm.relax.op",
    "tvm.relax.script.builder.ir",
    "tvm.relax.script.builder.distributed",
    "tvm.relax.script.parser",
    "tvm.runtime._tensor",
    "tvm.script.ir_builder.ir.ir",
    "tvm.script.parser.ir.entry",
    "tvm.tirx.exec_scope",
    "tvm.tirx.expr",
    "tvm.tirx.layout",
    "tvm.tirx.op",
    "tvm.tirx.script.builder.ir",
    "tvm.tirx.script.builder.tirx",
    "tvm.tirx.script.parser.entry",
    "tvm_ffi._tensor",
)
LEFT_OUT = frozenset(
    """I.meta_var I.pyfunc I.decl_function I.def_function I.module_get_attr I.module_set_attr I.lookup_name
    R.macro R.emit_te R.call_py_func R.rewriter R.dist.TypeProxy
    T.meta_var T.macro T.inline T.jit T.constexpr T.Optional T.func_gen T.add_to_parent T.static_assert T.call_kernel
    T.name_meta_class_value T.meta_class T.register_script_namespace T.lookup_param
    T.LetAnnotation T.LocalVectorAnnotation T.DtypeConstructor T.scalar_wrapper""".split()  # noqa: SIM905 - a list of words
)
WHOLE = ("T.cuda", "T.ptx", "T.ptx_legacy", "T.metal", "T.webgpu", "T.s_tir", "T.nki", "T.nvshmem")
"""Namespaces of intrinsics, all of which make calls in the IR."""
INNER = (
    *("R.nn", "R.image", "R.grad", "R.ccl", "R.memory", "R.vision", "R.vm", "R.builtin", "R.dist"),
    *("T.axis", "T.tile"),
)
OTHERS = (
    "tvm.IRModule tvm.ir.load_json tvm.ir.Call tvm.ir.Op.get tvm.target.Target tvm.ir.PointerType tvm.ir.PrimType "
    "np.array np.full np.ones np.zeros np.nan np.inf R.Any R.Object"
)


def names() -> list[str]:
    """All of them, sorted."""
    from tvm.script import ir, relax, tirx

    found = {f"{name}.*" for name in WHOLE} | set(OTHERS.split())
    for prefix, namespace in (("I", ir), ("R", relax), ("T", tirx)):
        found.update(_of(prefix, namespace))
    for prefix in INNER:
        namespace = {"R": relax, "T": tirx}[prefix[0]]
        found.update(_of(prefix, getattr(namespace, prefix[2:])))
    return sorted(found - LEFT_OUT)


def _of(prefix: str, namespace: Any) -> Iterator[str]:
    for name in dir(namespace):
        value = getattr(namespace, name)
        if not name.startswith("_") and _is_of_scripts(value):
            yield f"{prefix}.{name}"


def _is_of_scripts(value: Any) -> bool:
    made = value.func if isinstance(value, partial) else value
    home = getattr(made, "__module__", None) or type(made).__module__
    return home.startswith(HOMES) and not isinstance(value, ModuleType)


if __name__ == "__main__":
    print("\n".join(names()))
