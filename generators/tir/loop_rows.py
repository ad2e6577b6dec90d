"""Schedule primitives on loops: splitting, joining, ordering, and loop kinds."""

from __future__ import annotations

from tvm import tirx

from generators.tir.block_loops import VECTOR
from generators.tir.schedule_row import Primitive
from generators.tir.schedule_view import ROOT, NoPlace, ScheduledBlock, ScheduledLoop, ScheduleView

_SPATIAL = int(tirx.IterVar.DataPar)
_UNROLLED = 16


def _divisible(_: ScheduledBlock, loop: ScheduledLoop) -> bool:
    return loop.serial and loop.extent != 0


def _factors(view: ScheduleView, extent: int | None) -> str:
    """Factors whose product reaches the extent: with one left to TVM, or all given."""
    source = view.source
    one = source.pick((2, 3, 4, 8, 1, 5))
    forms = [f"[None, {one}]", f"[{one}, None]", f"[None, {source.pick((1, 2))}, {one}]"]
    if extent:
        forms.append(f"[{-(-extent // one)}, {one}]")
        forms.append(f"[{one}, {-(-extent // one)}]")
    return str(source.pick(forms))


def _flag(view: ScheduleView, name: str, usual: bool) -> str:
    """A keyword argument where it is not as usual."""
    return f", {name}={not usual}" if view.source.flip(view.knobs.schedules.flag) else ""


def _split(view: ScheduleView) -> str:
    _, loop = view.loop(_divisible)
    return f"sch.split({loop.text}, factors={_factors(view, loop.extent)}{_flag(view, 'preserve_unit_iters', True)})"


def _loop_partition(view: ScheduleView) -> str:
    _, loop = view.loop(
        lambda b, x: x.serial and (x.extent or 0) >= 2 and len(view.below(x)) == 1 and b.innermost and _spatial(view, x)
    )
    assert loop.extent is not None
    first = view.source.integer(1, loop.extent - 1)
    left = loop.extent - first
    factors = f"[{first}, None]"
    if left >= 2 and view.source.flip(view.knobs.schedules.three_parts):
        factors = f"[{first}, {view.source.integer(1, left - 1)}, None]"
    return f"sch.loop_partition({loop.text}, factors={factors}{_flag(view, 'preserve_unit_iters', True)})"


def _chain(block: ScheduledBlock, start: int) -> list[ScheduledLoop]:
    """Loops from one inwards, each the whole body of the one before."""
    chain = [block.loops[start]]
    for loop in block.loops[start + 1 :]:
        if not chain[-1].holds(loop):
            break
        chain.append(loop)
    return chain


def _chains(view: ScheduleView) -> list[list[ScheduledLoop]]:
    found = [_chain(b, i) for b in view.blocks for i in range(len(b.loops))]
    return [chain for chain in found if len(chain) > 1]


def _fuse(view: ScheduleView) -> str:
    chains = [c for c in _chains(view) if c[0].serial and c[1].serial]
    chain = view.pick(chains)
    length = 3 if len(chain) > 2 and chain[2].serial and view.source.flip(view.knobs.schedules.three_loops) else 2
    return f"sch.fuse({', '.join(loop.text for loop in chain[:length])}{_flag(view, 'preserve_unit_iters', True)})"


def _reorder(view: ScheduleView) -> str:
    usable = [chain for chain in _chains(view) if not any(loop.node.thread_binding is not None for loop in chain)]
    chain = list(view.pick(usable))
    while len(chain) > 2 and view.source.flip(view.knobs.schedules.loop_left_out):
        chain.pop(view.source.integer(0, len(chain) - 1))
    shift = view.source.integer(1, len(chain) - 1)
    ordered = chain[shift:] + chain[:shift]
    return f"sch.reorder({', '.join(loop.text for loop in ordered)})"


def _reorder_block_iter_var(view: ScheduleView) -> str:
    block = view.block(lambda b: len(b.node.iter_vars) > 1)
    order = list(range(len(block.node.iter_vars)))
    shift = view.source.integer(1, len(order) - 1)
    return f"sch.reorder_block_iter_var({block.text}, {order[shift:] + order[:shift]})"


def _add_unit_loop(view: ScheduleView) -> str:
    block = view.block()
    where = view.source.pick([block.text, *(loop.text for loop in block.loops)])
    return f"sch.add_unit_loop({where})"


def _spatial(view: ScheduleView, loop: ScheduledLoop) -> bool:
    """Whether in every block around which the loop stands its variable counts for spatial axes only."""
    return all(b.axes_of(loop) <= {_SPATIAL} for b in view.below(loop))


def _parallel(view: ScheduleView) -> str:
    _, loop = view.loop(lambda b, x: x.serial and x.node.same_as(b.loops[0].node) and _spatial(view, x))
    return f"sch.parallel({loop.text})"


def _vectorize(view: ScheduleView) -> str:
    _, loop = view.loop(
        lambda b, x: x.serial and x.extent in VECTOR and x.node.same_as(b.loops[-1].node) and _spatial(view, x)
    )
    return f"sch.vectorize({loop.text})"


def _unroll(view: ScheduleView) -> str:
    _, loop = view.loop(lambda b, x: x.serial and 0 < (x.extent or 0) <= _UNROLLED)
    return f"sch.unroll({loop.text})"


def _bind(view: ScheduleView) -> str:
    """A nest that no thread has yet: a loop of its only block, or else one more loop around all of it, since threads
    that compute what others read would need barriers."""
    if not view.threads:
        raise NoPlace
    nests = [nest for nest in _nests(view) if not any(_is_bound(b) for b in nest)]
    nest = view.pick(nests)
    block = nest[0]
    axis = view.source.pick(("threadIdx.x", "blockIdx.x", "threadIdx.y", "blockIdx.y", "vthread.x"))
    alone = len(nest) == 1 and block.innermost
    usable = [x for x in block.loops if x.serial and 0 < (x.extent or 0) <= 64 and _spatial(view, x)]
    if alone and usable:
        return f'sch.bind({view.source.pick(usable).text}, "{axis}")'
    outermost = block.loops[0].text if block.loops else block.text
    return f'sch.bind(sch.add_unit_loop({outermost}), "{axis}")'


def _nests(view: ScheduleView) -> list[list[ScheduledBlock]]:
    """The blocks right below the root, those with the same outermost loop together."""
    found: list[list[ScheduledBlock]] = []
    for block in view.blocks:
        if block.parent != ROOT:
            continue
        last = found[-1][0] if found else None
        if last is not None and last.loops and block.loops and last.loops[0].node.same_as(block.loops[0].node):
            found[-1].append(block)
        else:
            found.append([block])
    return found


def _is_bound(block: ScheduledBlock) -> bool:
    return any(loop.node.thread_binding is not None for loop in block.loops)


def _merge(view: ScheduleView) -> str:
    """Outermost loops of equal length over blocks under one parent, one right after the other."""
    outer: list[tuple[ScheduledBlock, ScheduledLoop]] = []
    for block in view.blocks:
        if block.loops and not (outer and outer[-1][1].node.same_as(block.loops[0].node)):
            outer.append((block, block.loops[0]))
    pairs = [
        (one, other)
        for (first, one), (second, other) in zip(outer, outer[1:], strict=False)
        if first.parent == second.parent and one.serial and other.serial and one.extent == other.extent
        if one.extent and _independent(view.below(one), view.below(other))
    ]
    one, other = view.pick(pairs)
    return f"sch.merge({one.text}, {other.text})"


def _independent(ones: list[ScheduledBlock], others: list[ScheduledBlock]) -> bool:
    """Whether neither side writes a buffer that the other touches: the primitive does not ask."""

    def clash(writers: list[ScheduledBlock], users: list[ScheduledBlock]) -> bool:
        return any(any(user.touches(w.source)) for b in writers for w in b.node.writes for user in users)

    return not clash(ones, others) and not clash(others, ones)


def _annotate(view: ScheduleView) -> str:
    """Annotations that tell a pass how to write the same loops, and one that no pass knows."""
    kinds: list[tuple[str, int]] = [
        ("pragma_auto_unroll_max_step", view.source.pick((0, 4, 16))),
        ("pragma_unroll_explicit", view.source.integer(0, 1)),
        ("pragma_loop_partition_hint", 1),
        ("passfuzz_note", view.source.integer(0, 9)),
    ]
    key, value = view.source.pick(kinds)
    _, loop = view.loop(lambda b, x: key not in x.node.annotations)
    return f'sch.annotate({loop.text}, "{key}", {value})'


def _unannotate(view: ScheduleView) -> str:
    _, loop = view.loop(lambda b, x: len(x.node.annotations) > 0)
    key = view.source.pick(sorted(str(k) for k in loop.node.annotations))
    return f'sch.unannotate({loop.text}, "{key}")'


LOOP_ROWS = (
    Primitive(
        "split", _split, "predicates keep the iterations; disable_predication, which drops them, is not drawn", 10
    ),
    Primitive(
        "loop_partition",
        _loop_partition,
        "the parts cover the loop in order; loops of one block and of spatial axes",
        3,
    ),
    Primitive("fuse", _fuse, "the iterations of both loops in order", 5),
    Primitive(
        "reorder",
        _reorder,
        "blocks of spatial and reduced axes only; a reduction adds in another order",
        6,
        rounds=True,
    ),
    Primitive("reorder_block_iter_var", _reorder_block_iter_var, "axes of a block have no order", 2),
    Primitive("add_unit_loop", _add_unit_loop, "a loop of one iteration", 2),
    Primitive(
        "parallel",
        _parallel,
        "TVM refuses loops that a reduced axis or another iteration depends on",
        3,
        host=True,
    ),
    Primitive("vectorize", _vectorize, "as for parallel", 3),
    Primitive("unroll", _unroll, "the same iterations", 2),
    Primitive("bind", _bind, "as for parallel; only for targets with threads", 3, threads=True),
    Primitive(
        "merge",
        _merge,
        "loops of equal length whose blocks have no buffer in common that one of them writes",
        2,
        plants=("apart", "apart"),
    ),
    Primitive("annotate", _annotate, "hints that choose how code is written, not its results", 2),
    Primitive("unannotate", _unannotate, "hints only are there to be taken away", 2, after=("annotate",)),
)
