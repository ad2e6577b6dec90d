"""A number in memory that a loop counts by: a local buffer of one int32."""

from __future__ import annotations

from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.site import sequence
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt


@dataclass(frozen=True, slots=True)
class Cell:
    """tensor: the buffer of it, which no other statement draws from. zero: the index of its element."""

    tensor: DraftTensor
    zero: Expr

    @property
    def now(self) -> Term:
        return load(self.tensor, [self.zero])

    def plus(self, number: int) -> Stmt:
        """The store of the number after this one by so many, which may be negative."""
        kind = tirx.Add if number >= 0 else tirx.Sub
        return tirx.BufferStore(self.tensor.buffer, kind(self.now.expr, int32(abs(number))), [self.zero])

    def around(self, first: int, loop: Stmt, *after: Stmt) -> Stmt:
        """The loop, and statements that follow it, after the memory of what it counts by, which begins at `first`."""
        begun = tirx.BufferStore(self.tensor.buffer, int32(first), [self.zero])
        return sequence(tirx.AllocBuffer(self.tensor.buffer), begun, loop, *after)


def new_cell(draft: FunctionDraft, most: int) -> Cell:
    """most: the largest number that it comes to; the least is 0."""
    one = (draft.extent(1),)
    tensor = draft.add_tensor("c", one, "int32", Range(0, most, True), role="alloc", scope="local")
    draft.tensors.pop()
    return Cell(tensor, draft.number(0))


def as_index(draft: FunctionDraft, number: Expr) -> Expr:
    """An int32 as an index of the function."""
    return number if draft.index_dtype == "int32" else tirx.Cast(draft.index_dtype, number)


def int32(value: int) -> Expr:
    return tirx.IntImm("int32", value)
