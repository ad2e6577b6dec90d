"""What repro scripts check of memory by reading a module, for what a run may survive: text for `corpus.checks`.

The virtual machine empties the register of a killed variable a second time without a word, and its allocator rounds
storages up to pages, so that a tensor larger than its storage is refused only sometimes. `after` is the module.
"""

from __future__ import annotations

ENDED = """\
def ended_behind(body, ended):  # The variables that have ended behind a body. No later line may name them.
    for value in [*[b.value for block in body.blocks for b in block.bindings], body.body]:
        if isinstance(value, relax.If):
            ended = ended_behind(value.true_branch, ended) | ended_behind(value.false_branch, ended)
            value = value.cond
        again = [v.name for v in relax.analysis.all_vars(value) if v in ended]
        assert not again, f"{again[0]} was killed, and is named again: {value}"
        ended |= {value.args[0]} if ".kill_" in str(getattr(value, "op", "")) else set()
    return ended

for function in [f for f in after.functions.values() if isinstance(f, relax.Function)]:
    ended_behind(function.body, frozenset())
"""
"""Nobody uses a variable, or ends it again, behind its end."""

FITS = """\
def bound(body):
    for binding in [b for block in body.blocks for b in block.bindings]:
        yield binding.var, binding.value
        if isinstance(binding.value, relax.If):
            yield from [*bound(binding.value.true_branch), *bound(binding.value.false_branch)]

def numbers(*values):  # None where one of them is symbolic.
    return [int(v) for v in values] if all(isinstance(v, tvm.tirx.IntImm) for v in values) else None

def width(dtype):
    return tvm.runtime.DataType(str(dtype)).bits // 8

for function in [f for f in after.functions.values() if isinstance(f, relax.Function)]:
    values = dict(bound(function.body))
    for var, call in values.items():
        name = getattr(getattr(call, "op", None), "name", "")
        if name not in ("relax.memory.alloc_tensor", "relax.vm.alloc_tensor") or call.args[0] not in values:
            continue
        storage = values[call.args[0]]
        size, shape = numbers(*storage.args[0].values), numbers(call.args[1], *call.args[2].values)
        if size and shape:
            unit = width(storage.args[2].value) if storage.op.name == "relax.vm.alloc_storage" else 1
            end = shape[0] + int(np.prod(shape[1:], dtype="int64")) * width(call.args[3].value)
            fits = 0 <= shape[0] and end <= size[0] * unit
            assert fits, f"{var.name} ends at byte {end} of {call.args[0].name}, which has {size[0] * unit}"
"""
"""Tensors of known size fit into their storages."""
