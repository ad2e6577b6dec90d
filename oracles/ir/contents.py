"""What a module holds, as kinds: of the values of its Relax functions, and of what is special of its PrimFuncs.

For failures of which nothing else is known than the pass (`corpus.causes.cause`): what is left in a reduced module is
what the failure needs. Kinds are those of `oracles.ir.rewrite`: names, extents and counts do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tvm import s_tir, tirx

from generators import tvm_api as T
from generators.dtypes import is_float
from generators.operators.table import OPERATORS
from generators.tvm_api import IRModule, Node, PrimFunc, RelaxFunction, Stmt, Var
from oracles.ir.kinds import ELEMENTWISE, IRKind, Piece, words_of
from oracles.ir.regions import choices
from oracles.ir.rewrite import VALUES_IN_MOST_MODULES, is_elementwise, value_kind
from oracles.ir.tir_rewrite import kinds_of
from oracles.ir.walk import CALL, VAR, bindings, nodes_of, prim_funcs, relax_functions


def contents(module: IRModule) -> tuple[str, ...]:
    """The kinds of what a module holds, as causes name them, sorted; () for functions that only give back what they are
    given. Values that stand in most modules count where there is nothing else, elementwise operators where no other
    value is."""
    bound = [one.value for _, function in relax_functions(module) for one in bindings(function)]
    values = {value_kind(value) for value in bound}
    functions = [function for _, function in prim_funcs(module)]
    held = {word for function in functions for word in (*words_of(kinds_of(function)), *block_traits(function))}
    rarer = values - VALUES_IN_MOST_MODULES
    others = {value_kind(value) for value in bound if not is_elementwise(value)} - VALUES_IN_MOST_MODULES
    return tuple(sorted({*words_of(others or rarer), *held})) or words_of(values)


def operator_kind(name: str) -> IRKind:
    """The kind of an operator by its name, with or without "relax.": elementwise ones are alike, as is a family."""
    bare = name.removeprefix("relax.")
    row = OPERATORS.get(f"relax.{bare}")
    if row is not None and row.elementwise:
        return ELEMENTWISE
    family = "" if row is None else row.family
    return IRKind(Piece.FAMILY, family) if family else IRKind(Piece.OPERATOR, bare)


def inferred_kind(function: str) -> IRKind:
    """The kind of the operators that a function of TVM infers types of: "InferTypePermuteDims" is that of permute_dims.
    One function may infer those of many, which then have its name."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z]|\d|$)|[A-Z]?[a-z]+|\d+", function.rpartition("InferType")[2])
    bare = "_".join(words).lower()
    exact = [name for name in OPERATORS if name.rpartition(".")[2].replace("_", "") == bare.replace("_", "")]
    if exact:
        return operator_kind(exact[0])
    unnamed = not bare or re.match(r"unary|binary|broadcast", bare)
    return ELEMENTWISE if unnamed else IRKind(Piece.OPERATOR, bare)


def odd_floats(module: IRModule) -> tuple[str, ...]:
    """The dtypes of floats other than float32 of the tensors of a module and of parameters of PrimFuncs; sorted."""
    tensors = [T.type_of(var) for _, function in relax_functions(module) for var in _variables(function)]
    dtypes = {T.dtype_name(ty) or "" for ty in tensors if isinstance(ty, T.TensorType)}
    given = [T.type_of(param) for _, function in prim_funcs(module) for param in function.params]
    dtypes |= {str(ty.dtype) for ty in given if hasattr(ty, "dtype")}
    return tuple(sorted(dtype for dtype in dtypes if dtype != "float32" and is_float(dtype)))


def _variables(function: RelaxFunction) -> Iterator[Var]:
    yield from function.params
    yield from (bound.binding.var for bound in bindings(function))


def guarded_division(module: IRModule) -> str:
    """In what the PrimFuncs choose whether to divide integers by what is no constant, in words; "" where they divide
    outside of such a choice as well, or not at all.

    Built code computes both branches of a Select (`tirx.Select`), and one of an if_then_else. Division is the one thing
    that ends it by SIGFPE."""
    bodies = [function.body for _, function in prim_funcs(module)]
    chosen = [one for body in bodies for one in nodes_of(body, tirx.Select)]
    lazy = [one for body in bodies for one in choices(body)]
    every = {division for body in bodies for division in _divisions(body)}
    eagerly = {found for one in chosen for side in (one.true_value, one.false_value) for found in _divisions(side)}
    lazily = {found for one in lazy for side in one.args[1:] for found in _divisions(side)}
    if not every or every - eagerly - lazily:
        return ""
    return f"an integer division in {'a Select' if every == eagerly else 'an if_then_else'}"


def _divisions(value: Node) -> list[Node]:
    """Those of integers by what is no constant."""
    found = nodes_of(value, (tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod))
    return [one for one in found if "int" in str(one.ty) and not _is_constant(one.b)]


def _is_constant(divisor: Node) -> bool:
    return isinstance(divisor.value if isinstance(divisor, tirx.Broadcast) else divisor, tirx.IntImm)


# --- PrimFuncs of sblocks -------------------------------------------------------------------------------


def block_traits(function: PrimFunc) -> tuple[str, ...]:
    """What is special of the sblocks of a PrimFunc; sorted, () of one without."""
    realized = nodes_of(function.body, s_tir.SBlockRealize)
    found = {trait for one in realized if len(one.iter_values) for trait in _traits(one)}
    beside = [s for s in nodes_of(function.body, tirx.For) if isinstance(s.body, tirx.SeqStmt)]
    if beside and realized:
        found.add("a loop over several statements")
    return tuple(sorted(found))


def _traits(realized: Stmt) -> Iterator[str]:
    block = realized.block
    if any(int(one.iter_type) == tirx.IterVar.CommReduce for one in block.iter_vars):
        yield "a reduction"
    if any(int(one.iter_type) == tirx.IterVar.Opaque for one in block.iter_vars):
        yield "an opaque axis"
    if block.init is not None:
        yield "an init"
        yield from (f"a reduction by {kind}" for kind in _combiners(block.body))
    if len(block.match_buffers):
        yield "a match_buffer"
    if not all(isinstance(value, VAR) for value in realized.iter_values):
        yield "a computed axis"
    if not isinstance(realized.predicate, tirx.IntImm):
        yield "a predicate"


def _combiners(body: Stmt) -> Iterator[str]:
    """How a block of a reduction combines, where it does not add."""
    for store in nodes_of(body, tirx.BufferStore):
        if not isinstance(store.value, tirx.Add):
            yield _combiner(store.value)


def _combiner(value: Node) -> str:
    name = T.op_name(value) if isinstance(value, CALL) else None
    return name or type(value).__name__
