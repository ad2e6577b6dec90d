"""Chains: each operator takes what the one before gave; what nothing reads usually comes out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators import tvm_api
from generators.dtypes import integer_limits
from generators.relax.beside import _ends_within
from generators.relax.body import attempt
from generators.relax.chains import draw_chain, draw_chains
from generators.relax.frames import FunctionFrame, ModuleFrame
from generators.relax.relax_program import draw_program
from generators.relax.scope import Scope
from generators.source import SeededSource


def chains(count: int) -> list[list[Any]]:
    """The bindings of chains that stand."""
    found: list[list[Any]] = []
    for seed in range(count):
        scope = Scope(SeededSource(5, seed), FunctionFrame(ModuleFrame()))
        if attempt(scope, "chain", draw_chain):
            found.append(scope.bindings)
    return found


def operands(value: Any) -> list[Any]:
    return relax.analysis.free_vars(value)


def test_each_operator_takes_what_the_one_before_gave() -> None:
    stand = chains(200)
    assert len(stand) > 100
    for bindings in stand:
        read = {var for binding in bindings for var in operands(binding.value)}
        unread = [binding.var for binding in bindings if binding.var not in read]
        clips = [b for b in bindings if tvm_api.op_name(b.value) == "relax.clip"]
        assert len(unread) <= 1 + len(clips)  # an operand brought into a domain may be left by one that did not stand


def test_two_of_a_kind_follow_each_other() -> None:
    pairs = Counter[tuple[str, str]]()
    for bindings in chains(1200):
        names = {binding.var: tvm_api.op_name(binding.value) for binding in bindings}
        for binding in bindings:
            pairs.update((names[v], names[binding.var]) for v in operands(binding.value) if names.get(v))
    same = sum(number for (one, other), number in pairs.items() if one == other)
    assert same > 0.15 * sum(pairs.values())
    for pair in (("reshape", "permute_dims"), ("flip", "flip"), ("concat", "concat"), ("clip", "clip")):
        assert pairs[f"relax.{pair[0]}", f"relax.{pair[1]}"], pair


def test_chains_of_named_operators_hold_what_their_rows_draw() -> None:
    """Softmax of numbers whose exponential is beyond float32 is wrong where the largest is not taken off first."""
    large = 0
    for seed in range(60):
        program = draw_program(SeededSource(7, seed), patterns=(lambda s: draw_chains(s, ("relax.nn.softmax",)),))
        numbers = [a for call in program.calls for a in call.arguments if getattr(a, "dtype", None) == np.float32]
        large += any(a.size and np.nanmax(np.where(np.isfinite(a), a, 0)) > 89 for a in numbers)
    assert large > 10


def named_chains(names: tuple[str, ...], count: int, dtypes: tuple[str, ...] = ()) -> list[list[Any]]:
    """The bindings of draws of chains of these operators."""
    found = []
    for seed in range(count):
        scope = Scope(SeededSource(9, seed), FunctionFrame(ModuleFrame()))
        rows = tuple(f"relax.{name}" for name in names)
        attempt(scope, "chains", lambda scope, rows=rows: draw_chains(scope, rows, dtypes))
        found.append(scope.bindings)
    return found


def joined(bindings: list[Any], first: str, second: str) -> list[tuple[Any, Any]]:
    """Calls of the first operator with those of the second that read them."""
    made = {b.var: b.value for b in bindings if tvm_api.op_name(b.value) == f"relax.{first}"}
    readers = [b.value for b in bindings if tvm_api.op_name(b.value) == f"relax.{second}"]
    return [(made[var], reader) for reader in readers for var in operands(reader) if var in made]


WINDOWS = ("nn.pad", "nn.conv2d", "nn.avg_pool2d", "nn.max_pool2d")
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
SCALED = ("nn.conv2d", "nn.conv2d_transpose", "multiply")
MANY = (
    *("broadcast_to", "abs", "exp", "log", "sqrt", "sigmoid", "tanh", "sin", "cos"),
    *("floor", "ceil", "round", "negative", "square", "erf", "sign", "trunc"),
)


@pytest.mark.parametrize(
    ("names", "first", "seconds", "least"),
    [
        (WINDOWS, "nn.pad", WINDOWS[1:], 0.4),
        (("astype", *COMPARISONS), "astype", COMPARISONS, 0.6),
        (SCALED, "nn.conv2d", ("multiply",), 0.4),
        (SCALED, "nn.conv2d_transpose", ("multiply",), 0.36),
        (MANY, "broadcast_to", MANY[1:], 0.35),
        (MANY, "broadcast_to", ("nn.softmax", "nn.log_softmax", "cumsum", "cumprod", "sort", "triu", "tril"), 0.05),
    ],
)
def test_what_a_pass_names_is_joined_with_what_does_another_thing(
    names: tuple[str, ...], first: str, seconds: tuple[str, ...], least: float
) -> None:
    draws = named_chains(names, 150)
    held = [bindings for bindings in draws if any(joined(bindings, first, second) for second in seconds)]
    assert len(held) > least * len(draws)


def test_pads_before_windows_are_mostly_of_zeros_around_images() -> None:
    pads = [one for bs in named_chains(WINDOWS, 300) for two in WINDOWS[1:] for one, _ in joined(bs, "nn.pad", two)]
    around = [p for p in pads if str(p.attrs.pad_mode) == "constant" and not any(map(int, p.attrs.pad_width[:4]))]
    assert len(around) > 0.4 * len(pads) > 20
    assert sum(float(p.attrs.pad_value) == 0 for p in around) > 0.7 * len(around)


def test_what_a_cast_has_widened_is_compared_with_what_the_narrow_type_does_not_hold() -> None:
    beyond = 0
    for bindings in named_chains(("astype", *COMPARISONS), 300, ("int8", "uint8", "int16", "int32", "int64")):
        for cast, reader in (pair for name in COMPARISONS for pair in joined(bindings, "astype", name)):
            narrow = str(tvm_api.type_of(cast.args[0]).dtype)
            numbers = [a.value.numpy().astype(np.int64) for a in reader.args if isinstance(a, tvm_api.Constant)]
            if narrow.startswith(("int", "uint")) and numbers and numbers[0].size:
                low, high = integer_limits(narrow)
                beyond += bool(numbers[0].min() < low or numbers[0].max() > high)
    assert beyond > 10


def test_results_of_windows_get_constants_along_their_channels() -> None:
    pairs = [pair for bs in named_chains(SCALED, 300) for pair in joined(bs, "nn.conv2d", "multiply")]
    constants = [a for _, call in pairs for a in call.args if isinstance(a, tvm_api.Constant)]
    shapes = [tuple(a.value.numpy().shape) for a in constants]
    along = [shape for shape in shapes if sum(n > 1 for n in shape) == 1]
    assert len(constants) > 0.45 * len(pairs)
    assert len(along) > 0.16 * len(pairs)


def test_an_operator_along_an_axis_goes_along_one_that_was_made_longer() -> None:
    longer = total = 0
    for bindings in named_chains(("broadcast_to", "nn.softmax", "cumsum"), 200):
        for name in ("nn.softmax", "cumsum"):
            for one, other in joined(bindings, "broadcast_to", name):
                before, after = (list(tvm_api.type_of(e).shape.values) for e in (one.args[0], other))
                if (
                    other.attrs.axis is not None
                    and len(before) == len(after)
                    and list(map(str, before)) != list(map(str, after))
                ):
                    axis = int(other.attrs.axis)
                    total += 1
                    longer += str(before[axis]) != str(after[axis])
    assert longer > 0.5 * total > 5


def test_ends_are_those_of_all_narrower_integers() -> None:
    assert {-129, 127, 128, 255, 256} <= set(_ends_within("int16")) and not _ends_within("uint8")
    assert {-32769, 65535, 65536} <= set(_ends_within("int32")) and 2**32 in _ends_within("int64")
    for dtype in ("int16", "int32", "int64"):
        low, high = integer_limits(dtype)
        assert all(low < end < high for end in _ends_within(dtype))


def test_some_fork_and_join_again() -> None:
    joins = Counter[str]()
    for bindings in chains(800):
        readers = {binding.var: [b for b in bindings if binding.var in operands(b.value)] for binding in bindings}
        for join in bindings:
            arms = [b for b in bindings if b.var in operands(join.value)]
            shared = {v for b in arms for v in operands(b.value) if all(v in operands(other.value) for other in arms)}
            if len(arms) == 2 and shared and all(readers[arm.var] == [join] for arm in arms):
                joins[tvm_api.op_name(join.value) or ""] += 1
    assert {"relax.add", "relax.multiply", "relax.concat", "relax.where", "relax.maximum"} <= joins.keys()
    assert sum(joins.values()) > 40


def live_share(programs: int) -> float:
    """Of the calls of operators in main, those that its result depends on."""
    calls = live = 0
    for index in range(programs):
        main = draw_program(SeededSource(8, index)).module["main"]
        bindings = [binding for block in main.body.blocks for binding in block.bindings]
        needed = set(operands(main.body.body))
        for binding in reversed(bindings):
            is_call = isinstance(binding.value, tvm.ir.Call)
            calls += is_call
            if binding.var in needed:
                live += is_call
                needed |= set(operands(binding.value))
    return live / calls


def test_most_of_a_program_is_seen_in_its_result_and_some_is_dead() -> None:
    assert 0.6 < live_share(450) < 0.95


def test_what_undoes_a_call_has_the_other_operands_of_that() -> None:
    pairs = [
        pair for bs in named_chains(("quantize", "dequantize"), 300) for pair in joined(bs, "dequantize", "quantize")
    ]
    both = [reader for made, reader in pairs if reader.args[1].same_as(made.args[1])]
    back = [reader for made, reader in pairs if reader.ty.dtype == made.args[0].ty.dtype]
    assert len(pairs) > 60
    assert len(both) > 0.15 * len(pairs) and any(r.args[2].same_as(m.args[2]) for m, r in pairs)
    assert len(back) > 0.3 * len(pairs)


def test_slices_with_a_stride_leave_what_can_be_cut_again() -> None:
    """The second slice begins after the first element that the first one has left, of several."""
    later = 0
    for bindings in named_chains(("strided_slice",), 300):
        for made, reader in joined(bindings, "strided_slice", "strided_slice"):
            strides = [int(s.value) for s in made.args[4].fields] if len(made.args) > 4 else [1]
            begins = [getattr(b, "value", 0) for b in reader.args[2].fields]
            later += max(strides) > 1 and max(begins) > 0
    assert later > 15


def test_what_is_widened_reaches_the_ends_of_its_dtype() -> None:
    near = 0
    for seed in range(60):
        patterns = (lambda s: draw_chains(s, ("relax.astype", "relax.sum"), ("int8", "int32")),)
        program = draw_program(SeededSource(7, seed), patterns=patterns)
        arrays = [
            a for call in program.calls for a in call.arguments if isinstance(a, np.ndarray) and a.dtype == np.int8
        ]
        near += any(a.size and np.abs(a.astype(np.int64)).max() > 120 for a in arrays)
    assert near > 10
