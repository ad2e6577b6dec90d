"""The texts of the checks about dead code: functions that nobody calls, bindings that nobody uses.

As `corpus.checks`, which makes checks of them.
"""

from __future__ import annotations

EQUAL = "from tvm_ffi import get_first_structural_mismatch as mismatch\n\n"

LIVE = """\
live = tvm.transform.Sequential([relax.transform.CanonicalizeBindings(), relax.transform.DeadCodeElimination()])
"""

DEAD_CODE = f"""\
{EQUAL}\
{LIVE}\
for g, function in before.functions.items():
    if isinstance(function, relax.Function) and relax.analysis.all_global_vars(function):
        continue
    copy = tvm.ir.load_json(tvm.ir.save_json(function))
    copy = copy.without_attr("global_symbol") if copy.attrs and "global_symbol" in copy.attrs else copy
    with_dead = before.clone()
    with_dead.update_func(tvm.ir.GlobalVar("nobody_calls_this"), copy)
    again = PASS(with_dead)
    assert not mismatch(live(again), live(after)), f"a dead copy of {{g.name_hint}} changes the live part"
"""

WITHOUT_DEAD_CODE = f"""\
{EQUAL}\
{LIVE}\
from tvm_ffi import structural_walk

reached = [g for g, f in before.functions.items() if f.attrs and "global_symbol" in f.attrs]
for name in reached:  # It grows meanwhile.
    called = []
    structural_walk(before[name], (tvm.ir.GlobalVar, called.append), order="post")
    reached += [g for g in dict.fromkeys(called) if g in before.functions and g not in reached]
functions = {{g: f for g, f in before.functions.items() if g in reached}}
alive = tvm.IRModule(functions, attrs=before.attrs, global_infos=before.global_infos)
again = PASS(alive)
assert not mismatch(live(again), live(after)), "without the dead functions the live part comes out another"
"""

DEAD_BINDING = f"""\
{EQUAL}\
{LIVE}\
def with_dead(function, number, place):
    zeros = relax.const(np.zeros(2, "float32"), "float32")
    value = relax.BlockBuilder().normalize(DEAD_VALUE)
    blocks = list(function.body.blocks)
    old = blocks[number]
    dead = (relax.DataflowVar if isinstance(old, relax.DataflowBlock) else relax.Var)("nobody_uses_this", value.ty)
    blocks[number] = type(old)([*old.bindings[:place], relax.VarBinding(dead, value), *old.bindings[place:]])
    body = relax.BlockBuilder().normalize(relax.SeqExpr(blocks, function.body.body))
    return relax.Function(function.params, body, function.ret_ty, function.is_pure, function.attrs)

functions = [(g, f) for g, f in before.functions.items() if isinstance(f, relax.Function)]
blocks = [(g, f, n, b) for g, f in functions for n, b in enumerate(f.body.blocks)]
for g, f, n, place in [(g, f, n, place) for g, f, n, b in blocks for place in range(len(b.bindings) + 1)]:
    changed = before.clone()
    changed.update_func(g, with_dead(f, n, place))
    again = PASS(changed)
    assert not mismatch(live(again), live(after)), f"a dead binding in {{g.name_hint}} changes the live part"
"""

DEAD_VALUES = {
    "a dead constant": "zeros",
    "a dead relax.zeros": 'relax.op.zeros((2,), "float32")',
    "a dead relax.add": "relax.op.add(zeros, zeros)",
}
"""What stands for DEAD_VALUE, by how the message of the verdict begins."""
