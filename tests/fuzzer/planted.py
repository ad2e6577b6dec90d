"""Passes with one fault each, as a user's --load file, and what a campaign must say of them."""

from __future__ import annotations

from pathlib import Path

TEXT = '''\
import ctypes
import os
import signal
import time

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator


def the_pass(name):
    return tvm.transform.module_pass(opt_level=0, name=name)


def has_call(mod):
    return any(
        isinstance(binding.value, tvm.ir.Call)
        for f in mod.functions.values()
        if isinstance(f, relax.Function)
        for block in f.body.blocks
        for binding in block.bindings
    )


@mutator
class Swap(PyExprMutator):
    """Subtracts the other way round, and adds twice: gives other numbers, in the same types."""

    def visit_call_(self, call):
        call = super().visit_expr_post_order(call)
        if isinstance(call.op, tvm.ir.Op) and call.op.name == "relax.subtract":
            return relax.op.add(*call.args)
        if isinstance(call.op, tvm.ir.Op) and call.op.name == "relax.add":
            return relax.op.subtract(*call.args)
        return call


@the_pass("WrongNumbers")
def wrong_numbers(mod, context):
    changed = Swap(mod)
    functions = {v: changed.visit_expr(f) if isinstance(f, relax.Function) else f for v, f in mod.functions.items()}
    return tvm.ir.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)


@the_pass("Mutates")
def mutates(mod, context):
    for var, function in mod.functions.items():
        if isinstance(function, relax.Function) and has_call(mod):
            mod.update_func(var, function.with_attr("planted", 1))
            break
    return mod


@the_pass("Segfaults")
def segfaults(mod, context):
    if has_call(mod):
        ctypes.string_at(0)
    return mod


@the_pass("Raises")
def raises(mod, context):
    return {}["key"] if has_call(mod) else mod


@the_pass("EatsMemory")
def eats_memory(mod, context):
    kept = []
    while has_call(mod):
        kept.append(bytes(1 << 30))
    return mod


@the_pass("Hangs")
def hangs(mod, context):
    while has_call(mod):
        time.sleep(0.1)
    return mod


@the_pass("Exits")
def exits(mod, context):
    if has_call(mod):
        os._exit(3)
    return mod


@the_pass("IsKilled")
def is_killed(mod, context):
    if has_call(mod):
        os.kill(os.getpid(), signal.SIGKILL)
    return mod


@the_pass("Identity")
def identity(mod, context):
    return mod


@mutator
class Rename(PyExprMutator):
    """A copy: every variable is made anew."""


@the_pass("Copies")
def copies(mod, context):
    functions = {v: Rename(mod).visit_expr(f) if isinstance(f, relax.Function) else f for v, f in mod.functions.items()}
    return tvm.ir.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)


ALL = [wrong_numbers, mutates, segfaults, raises, eats_memory, hangs, exits, is_killed, identity, copies]
PASSES = {p.info.name: (lambda p=p: p) for p in ALL if p.info.name in WANTED}
'''

FAULTY: dict[str, tuple[str, ...]] = {
    "WrongNumbers": ("wrong result",),
    "Mutates": ("input changed",),
    "Segfaults": ("crash",),
    "Raises": ("crash",),
    "EatsMemory": ("crash",),
}
"""Passes with the symptoms of which one must be among their findings'."""
CORRECT = ("Identity", "Copies")


def write_passes(folder: Path, *names: str) -> Path:
    """A file with these passes."""
    path = folder / "planted_passes.py"
    path.write_text(f"WANTED = {names!r}\n{TEXT}", encoding="utf-8")
    return path
