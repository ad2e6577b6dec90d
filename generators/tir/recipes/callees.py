"""PrimFuncs that call other PrimFuncs of their module: private, public and recursive ones, with addresses of elements
and numbers as arguments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import tvm
from tvm import tirx

from generators import tvm_api
from generators.source import Source
from generators.tir.control_flow import affordable
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load
from generators.tir.functions import begun, finished
from generators.tir.opaque import draw_sequence, draw_statements, held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import AROUND, KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, changed, counted, loop, new_filled
from generators.tir.site import Site, sequence
from generators.tir.terms import Term, held
from generators.tvm_api import Expr, GlobalVar, PrimFunc, Stmt, Var


def draw_calls(source: Source) -> PrimProgram:
    """A function that calls another one for each row of some buffers."""
    draft = begun(source, AROUND)
    callees = _Callees(draft)
    draw_statements(draft, callees.planted)
    program = finished(draft, schedulable=False)
    functions = {gvar: function for gvar, function in program.module.functions.items()}
    return replace(program, module=tvm.IRModule({**functions, **callees.made}))


@dataclass(frozen=True, slots=True)
class _AddressCallee:
    """A function that changes the buffer at an address, of so many elements, with numbers that it is given."""

    gvar: GlobalVar
    dtype: str
    length: int
    numbers: tuple[str, ...]


@dataclass(slots=True)
class _Callees:
    """The called functions of one function."""

    draft: FunctionDraft
    made: dict[GlobalVar, PrimFunc] = field(default_factory=dict)

    def planted(self, site: Site) -> Stmt:
        """A called function, and one or two places that call it."""
        callee = self._callee(site)
        calls = [_call(site, callee)]
        if self.draft.source.flip(KNOBS.callees.again):
            calls.append(_call(site, callee))
        self.draft.features.add("calls")
        return sequence(*calls)

    def _callee(self, site: Site) -> _AddressCallee:
        draft, source = self.draft, self.draft.source
        dtype, length = source.pick(NUMBERS), source.integer(2, 6)
        numbers = tuple(source.pick((dtype, draft.index_dtype)) for _ in range(source.integer(0, 2)))
        gvar = GlobalVar(draft.new_name("callee"))
        callee = _AddressCallee(gvar, dtype, length, numbers)
        recursive = source.flip(KNOBS.callees.recursive)
        if recursive:
            callee = replace(callee, numbers=("int32",))
            draft.features.add("recursive_call")
        function = (_recursive if recursive else _function)(site, callee)
        if source.flip(KNOBS.callees.public):
            function = function.with_attr("global_symbol", gvar.name_hint)
            draft.features.add("public_callee")
        tvm_api.set_type(gvar, tvm_api.type_of(function))
        self.made[gvar] = function
        return callee


def _memory(draft: FunctionDraft, callee: _AddressCallee, length: Expr | int) -> tuple[Var, DraftTensor, Stmt]:
    """The parameter that is an address, the buffer there, and its declaration."""
    address = tirx.Var(draft.new_name("p"), tvm.ir.PointerType(tvm_api.PrimType(callee.dtype)))
    values, fraction = held_range(callee.dtype)
    dims = (draft.extent(length),) if isinstance(length, int) else (Extent("any", 1, 1, callee.length, length),)
    view = draft.add_tensor("Y", dims, callee.dtype, values, fraction=fraction, role="alloc", data=address)
    draft.tensors.pop()
    return address, view, tvm_api.declared(view.buffer, address)


def _inside(site: Site, view: DraftTensor, values: list[Term]) -> Site:
    """The body of a called function: it sees nothing of its caller."""
    return replace(
        site, tensors=[view], memory={}, points=[], values=values, recent=[], conditions=[], header=None, kind=None,
        turns=40, depth=2, in_loop=False,
    )  # fmt: skip


def _finished(params: list[Var], body: Stmt) -> PrimFunc:
    return tvm_api.prim_func(params, body).with_attr({"s_tir": True, "tirx.noalias": True})


def _function(site: Site, callee: _AddressCallee) -> PrimFunc:
    draft = site.draft
    outside = draft.touched, draft.tensors
    draft.touched, draft.tensors = [], []
    address, view, declared = _memory(draft, callee, callee.length)
    names = [tirx.Var(draft.new_name("x"), dtype) for dtype in callee.numbers]
    values = [Term(n, dtype, *held_range(dtype)) for n, dtype in zip(names, callee.numbers, strict=True)]
    at = _inside(site, view, values)
    var, point = counted(draft, view.dims[0])
    used = loop(draft, var, view.dims[0], changed(at.inside(point), view, [var]))
    body = sequence(declared, used, draw_sequence(at))
    draft.touched, draft.tensors = outside
    return _finished([address, *names], body)


def _recursive(site: Site, callee: _AddressCallee) -> PrimFunc:
    """Changes an element with its neighbour, and calls itself for the rest."""
    draft = site.draft
    left = tirx.Var(draft.new_name("x"), "int32")
    address, view, declared = _memory(draft, callee, left)
    zero, one = (tirx.IntImm("int32", n) for n in (0, 1))
    first, second = (tirx.BufferLoad(view.buffer, [index]) for index in (zero, one))
    kind = draft.source.pick((tirx.Max, tirx.Min))
    rest = tirx.address_of(second)
    again = tirx.Evaluate(_of(callee, [rest, tirx.Sub(left, one)]))
    body = sequence(tirx.BufferStore(view.buffer, kind(first, second), [one]), again)
    return _finished([address, left], sequence(declared, tirx.IfThenElse(tirx.GT(left, one), body, None)))


def _call(site: Site, callee: _AddressCallee) -> Stmt:
    """A call for each row of a new buffer, or for one of them."""
    draft, source = site.draft, site.draft.source
    rows = draft.extent(source.integer(1, 4))
    tensor = new_filled(site, (rows, draft.extent(callee.length)), callee.dtype)
    if not affordable(site, rows.value * 40):
        raise Unfit("too many iterations")
    if source.flip() and "recursive_call" not in draft.features:
        var, point = counted(draft, rows)
        return loop(draft, var, rows, _called(site.inside(point), callee, tensor, var))
    return _called(site, callee, tensor, draft.number(source.integer(0, rows.value - 1)))


def _of(callee: _AddressCallee, arguments: list[Expr]) -> Expr:
    return tvm_api.prim_call(callee.gvar, arguments, tvm_api.VOID)


def _called(site: Site, callee: _AddressCallee, tensor: DraftTensor, row: Expr) -> Stmt:
    draft = site.draft
    address = tirx.address_of(tirx.BufferLoad(tensor.buffer, [row, draft.number(0)]))
    if "recursive_call" in draft.features:
        given: list[Expr] = [tirx.IntImm("int32", callee.length)]
    else:
        given = [_number(site, tensor, row, dtype) for dtype in callee.numbers]
    return tirx.Evaluate(_of(callee, [address, *given]))


def _number(site: Site, tensor: DraftTensor, row: Expr, dtype: str) -> Expr:
    """A number for a parameter, in some cases an element that the called function may change."""
    if tensor.dtype == dtype and site.draft.source.flip(KNOBS.callees.loaded):
        column = site.draft.number(site.draft.source.integer(0, tensor.dims[1].value - 1))
        return load(tensor, [row, column]).expr
    return held(site.value(dtype, lets=False), *held_range(dtype)).expr


RECIPES = (PrimRecipe("calls_of_prim_funcs", draw_calls),)
