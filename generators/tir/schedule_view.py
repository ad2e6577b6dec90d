"""The state that a schedule primitive is drawn from: the blocks and loops so far, with the text that names each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import tvm_ffi
from tvm import s_tir, tirx

from generators.source import Source
from generators.tir.knobs import TirKnobs
from generators.tir.prim_program import PrimProgram
from generators.tvm_api import Buffer, Expr, Node, Stmt, Var, is_zero

T = TypeVar("T")
ROOT = 'sch.get_sblock("root")'
"""The expression that gets the root block."""


class NoPlace(Exception):
    """Nothing in the schedule is of the form that the primitive asks for."""


@dataclass(frozen=True, slots=True, eq=False)
class ScheduledLoop:
    """A loop: its statement, and the expression that gets it from the schedule."""

    node: Node
    text: str

    @property
    def extent(self) -> int | None:
        """The number of iterations, None where it is symbolic."""
        return int(self.node.extent.value) if isinstance(self.node.extent, tirx.IntImm) else None

    @property
    def serial(self) -> bool:
        """An ordinary loop from 0 without annotations."""
        node = self.node
        plain = int(node.kind) == int(tirx.ForKind.SERIAL) and node.thread_binding is None
        return is_zero(node.min) and plain and node.step is None and len(node.annotations) == 0

    def holds(self, inner: ScheduledLoop) -> bool:
        """Whether the other loop is all of its body."""
        return bool(self.node.body.same_as(inner.node))


@dataclass(slots=True, eq=False)
class ScheduledBlock:
    """A block: its statement, the expression that gets it, and its loops from the outermost inwards."""

    node: Node
    text: str
    loops: list[ScheduledLoop]
    parent: str
    bindings: list[Expr]
    innermost: bool
    """Whether there is no block inside."""
    guarded: bool
    """Whether it has a predicate."""

    @property
    def reduces(self) -> bool:
        """Whether it has an axis that is reduced."""
        return any(int(v.iter_type) == int(tirx.IterVar.CommReduce) for v in self.node.iter_vars)

    @property
    def spatial(self) -> bool:
        """Whether its axes are all spatial."""
        return all(int(v.iter_type) == int(tirx.IterVar.DataPar) for v in self.node.iter_vars)

    def touches(self, buffer: Buffer) -> tuple[bool, bool]:
        """Whether it reads the buffer, and whether it writes it."""
        reads, writes = (any(r.source.same_as(buffer) for r in rs) for rs in (self.node.reads, self.node.writes))
        return reads, writes

    def axes_of(self, loop: ScheduledLoop) -> set[int]:
        """The types of the block's axes whose bindings use the loop's variable."""
        return {
            int(v.iter_type)
            for v, value in zip(self.node.iter_vars, self.bindings, strict=True)
            if uses(value, loop.node.loop_var)
        }


def uses(expr: Expr, var: Var) -> bool:
    """Whether the variable occurs in the expression."""
    return any(var.same_as(found) for found in tirx.analysis.undefined_vars(expr))


@dataclass(slots=True)
class ScheduleView:
    """The schedule as it stands. `threads`: whether the target has thread axes. `applied`: names of the steps taken."""

    source: Source
    schedule: s_tir.Schedule
    program: PrimProgram
    threads: bool
    applied: Sequence[str]
    blocks: list[ScheduledBlock]
    knobs: TirKnobs

    def pick(self, options: Sequence[T]) -> T:
        """One of the options. Raises NoPlace where there is none."""
        if not options:
            raise NoPlace
        return self.source.pick(options)

    def block(self, wanted: Callable[[ScheduledBlock], bool] = lambda _: True) -> ScheduledBlock:
        """A block of some form. Raises NoPlace where there is none."""
        return self.pick([b for b in self.blocks if wanted(b)])

    def loop(self, wanted: Callable[[ScheduledBlock, ScheduledLoop], bool]) -> tuple[ScheduledBlock, ScheduledLoop]:
        """A loop of some form, around a block. Raises NoPlace where there is none."""
        pairs = [(b, loop) for b in self.blocks for loop in b.loops if wanted(b, loop)]
        block, loop = self.pick(pairs)
        return block, loop

    def alone(self, block: ScheduledBlock, buffer: Buffer, *, written: bool) -> bool:
        """Whether no other block reads (or writes) the buffer, and this one does not do both."""
        side = 1 if written else 0
        others = [b for b in self.blocks if b is not block and b.innermost and b.touches(buffer)[side]]
        return not others and not all(block.touches(buffer))

    def below(self, loop: ScheduledLoop) -> list[ScheduledBlock]:
        """The blocks inside a loop."""
        return [b for b in self.blocks if any(other.node.same_as(loop.node) for other in b.loops)]

    def written_local(self, block: ScheduledBlock) -> bool:
        """Whether the block writes a buffer of the function's own."""
        params = list(self.schedule.mod[self.program.function].params)
        return all(not any(w.source.same_as(p) for p in params) for w in block.node.writes)


def view_of(
    source: Source,
    schedule: s_tir.Schedule,
    program: PrimProgram,
    threads: bool,
    applied: Sequence[str],
    knobs: TirKnobs,
) -> ScheduleView:
    """The schedule as it stands."""
    found: list[tuple[Node, str, str]] = []
    _below(schedule, schedule.get_sblock("root"), ROOT, found)
    nodes = [schedule.get(rv) for rv, _, _ in found]
    names = Counter(str(node.name_hint) for node in nodes)
    realized = _realized(schedule.mod[program.function].body)
    parents = {parent for _, _, parent in found}
    blocks = []
    for node, (rv, path, parent) in zip(nodes, found, strict=True):
        name = str(node.name_hint)
        text = f'sch.get_sblock("{name}")' if names[name] == 1 and name != "root" else path
        loops = [
            ScheduledLoop(schedule.get(x), f"sch.get_loops({text})[{i}]") for i, x in enumerate(schedule.get_loops(rv))
        ]
        realize = realized[node.__chandle__()]
        guarded = not isinstance(realize.predicate, tirx.IntImm)
        blocks.append(
            ScheduledBlock(node, text, loops, parent, list(realize.iter_values), path not in parents, guarded)
        )
    return ScheduleView(source, schedule, program, threads, applied, blocks, knobs)


def _realized(body: Stmt) -> dict[int, Node]:
    """Where each block stands, by the address of the block."""
    found: dict[int, Node] = {}

    def see(realize: Node) -> None:
        found[realize.block.__chandle__()] = realize

    tvm_ffi.structural_walk(body, (s_tir.SBlockRealize, see), order="post")
    return found


def _below(schedule: s_tir.Schedule, block: Node, text: str, found: list[tuple[Node, str, str]]) -> None:
    for number, child in enumerate(schedule.get_child_blocks(block)):
        path = f"sch.get_child_blocks({text})[{number}]"
        found.append((child, path, text))
        _below(schedule, child, path, found)
