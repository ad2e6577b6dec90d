"""Function bodies: blocks, the statements in them, and the function's result.

Control sits here; single statements are in `statements` and `calls_and_ifs`, how an operator is
drawn in its row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tvm import relax

from generators import tvm_api
from generators.program_facts import Feature
from generators.relax.scope import Scope
from generators.relax.values import AnyValue, TupleValue, Value
from generators.source import weighted
from generators.tvm_api import Binding, BindingBlock, Expr, Var
from generators.unavailable import Unavailable

Pattern: TypeAlias = Callable[[Scope], None]
"""Plants a shape of program into the current block; `name`, `plain`, `dataflow`, `wants` are read where it has them."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A kind of statement. `plain` ones may not stand in a dataflow block; `draw` adds to the scope or raises
    Unavailable. `wants` names the feature a program must have for it, if any."""

    name: str
    weight: int
    draw: Callable[[Scope], None]
    plain: bool = False
    wants: Feature | None = None


def draw_statements(scope: Scope, table: Sequence[Statement], count: int) -> None:
    """Adds up to `count` statements to the scope's current block."""
    features = scope.frame.module.features
    usable = [(s, s.weight) for s in table if not (s.plain and scope.dataflow) and s.wants in (None, *features)]
    for _ in range(count if usable else 0):
        statement = weighted(scope.source, usable)
        attempt(scope, statement.name, statement.draw)


def attempt(scope: Scope, name: str, draw: Callable[[Scope], None]) -> bool:
    """Runs `draw`. Drops draws that the scope cannot serve; counts calls that type inference refuses."""
    module = scope.frame.module
    module.drawing = name
    try:
        draw(scope)
    except Unavailable:
        return False
    except (tvm_api.InternalError, ValueError, TypeError, RuntimeError) as error:
        module.rejected[module.drawing, f"{type(error).__name__} {error}"] += 1
        return False
    module.drawn[name] += 1
    return True


def plant(scope: Scope, pattern: Pattern) -> bool:
    """Draws `pattern`, again where its random operands did not fit; whether it was drawn."""
    name = getattr(pattern, "name", "recipe")
    return any(attempt(scope, name, pattern) for _ in range(scope.knobs.blocks.plantings))


def draw_blocks(
    scope: Scope, table: Sequence[Statement], count: int, patterns: Sequence[Pattern] = ()
) -> list[BindingBlock]:
    """`count` statements cut into dataflow and plain blocks; each pattern is planted into one of them, in order.

    A pattern whose attribute `plain` (or `dataflow`) is true gets a plain (or a dataflow) block.
    """
    blocks: list[BindingBlock] = []
    left = list(zip(sorted(scope.source.integer(0, count) for _ in patterns), patterns, strict=True))
    done = 0
    while done < count or left:
        size = scope.source.integer(1, count - done) if done < count else 0
        where, pattern = left.pop(0) if left and done + size >= left[0][0] else (done, None)
        scope.dataflow = _draw_kind(scope, pattern)
        first = max(0, min(size, where - done))
        draw_statements(scope, table, first)
        if pattern is not None:
            plant(scope, pattern)
        draw_statements(scope, table, size - first)
        done += size
        kind = scope.dataflow
        blocks += close_block(scope) + _draw_put_off(scope, not kind)
    return blocks


def _draw_put_off(scope: Scope, dataflow: bool) -> list[BindingBlock]:
    """A block of the draws put off until the last block closed; of the other kind, as TVM joins equal kinds."""
    put_off, scope.put_off = scope.put_off, []
    if not put_off:
        return []
    scope.dataflow = dataflow
    for name, draw in put_off:
        attempt(scope, name, draw)
    return close_block(scope)


def _draw_kind(scope: Scope, pattern: Pattern | None) -> bool:
    """Whether the next block is a dataflow block: as the pattern needs it, else in most cases."""
    if getattr(pattern, "plain", False):
        return False
    return getattr(pattern, "dataflow", False) or scope.source.flip(scope.knobs.blocks.dataflow)


def close_block(scope: Scope) -> list[BindingBlock]:
    """Ends the current block: its bindings as a block, its dataflow values out of sight."""
    bindings, scope.bindings = scope.bindings, []
    if not bindings:
        return []
    scope.used |= {var for binding in bindings for var in relax.analysis.free_vars(binding.value)}
    if not scope.dataflow:
        return [relax.BindingBlock(bindings)]
    scope.dataflow = False
    survivors: list[AnyValue] = []
    bindings = [_exported(scope, binding) for binding in bindings]
    kept = {b.var for b in bindings if not isinstance(b.var, relax.DataflowVar)}
    if not kept:
        _export_last(scope, bindings)
    for value in scope.values:
        if not value.dataflow:
            survivors.append(value)
    scope.values = survivors
    return [relax.DataflowBlock(bindings)]


def _exported(scope: Scope, binding: Binding) -> Binding:
    """The binding, in most cases as an output if nothing in the block reads it."""
    local = isinstance(binding, relax.VarBinding) and isinstance(binding.var, relax.DataflowVar)
    if not local or binding.var in scope.used or not scope.source.flip(scope.knobs.unused_output_share):
        return binding
    var = scope.frame.new_var(tvm_api.type_of(binding.var))
    if binding.var in scope.frame.fixed:
        scope.frame.fixed.add(var)
    for number, value in enumerate(scope.values):
        if value.expr.same_as(binding.var):
            scope.values[number] = replace(value, expr=var, dataflow=False)
    return relax.VarBinding(var, binding.value)


def _export_last(scope: Scope, bindings: list[Binding]) -> None:
    """Gives a block without outputs one: a binding of its last tensor to an ordinary variable."""
    inner = [v for v in scope.values if isinstance(v, (Value, TupleValue)) and v.dataflow]
    if not inner:
        return
    last = inner[-1]
    ty = tvm_api.type_of(last.expr)
    var = scope.frame.new_var(ty, stem="o")
    bindings.append(relax.VarBinding(var, last.expr))
    if isinstance(last, Value):
        scope.values.append(Value(var, last.dims, last.shape, last.dtype, last.range))
    else:
        scope.values.append(TupleValue(var, last.fields))


def draw_result(scope: Scope) -> Expr:
    """The expression that a function returns: one value, a tuple of some, or a nested one.

    Values that the frame keeps come first; else late values and unread ones are preferred: a value that does not come
    out is judged by no number. Some used ones come out as well.
    """
    if scope.frame.kept_alone and scope.frame.kept:
        return _tuple_of(scope, scope.frame.kept)
    tensors = [v for v in scope.values if isinstance(v, (Value, TupleValue)) and _is_var(v.expr)]
    computed = [v for v in tensors if v.expr not in scope.frame.parameter_vars] or tensors
    if not computed:
        raise Unavailable("nothing to return")
    source = scope.source
    kept = scope.frame.kept[-4:]
    if source.flip(scope.knobs.results.one_of_kept if len(kept) > 1 else scope.knobs.results.one):
        return (kept or [computed[-1].expr])[-1]
    unread = {v.expr for v in computed if v.expr not in scope.used and source.flip(scope.knobs.unused_output_share)}
    chosen = [
        v
        for v in computed
        if v.expr in unread or source.flip(scope.knobs.results.beside_kept if kept else scope.knobs.results.beside)
    ][-scope.knobs.results.most :]
    chosen = chosen or ([] if kept else [computed[-1]])
    exprs = [v.expr for v in chosen if not any(v.expr.same_as(k) for k in kept)] + kept
    if source.flip(scope.knobs.results.nested) and len(exprs) > 1:
        exprs = _grouped(scope, exprs)
    return _tuple_of(scope, exprs)


def _tuple_of(scope: Scope, exprs: Sequence[Expr]) -> Expr:
    """The expressions in a tuple, written out or bound."""
    whole = relax.Tuple(exprs)
    return whole if scope.source.flip(scope.knobs.results.written_out) else _bound_tuple(scope, whole)


def _grouped(scope: Scope, exprs: list[Expr]) -> list[Expr]:
    """The expressions with the last ones in a tuple, bound or written out; in half of the cases the others too."""
    cut = scope.source.integer(1, len(exprs) - 1)
    groups = [relax.Tuple(exprs[:cut]), relax.Tuple(exprs[cut:])]
    first, last = (_bound_tuple(scope, group) if scope.source.flip() else group for group in groups)
    return [first, last] if scope.source.flip() else [*exprs[:cut], last]


def _bound_tuple(scope: Scope, value: Expr) -> Var:
    normal = scope.frame.module.builder.normalize(value)
    var = scope.frame.new_var(tvm_api.type_of(normal), stem="t")
    scope.bindings.append(relax.VarBinding(var, normal))
    return var


def _is_var(expr: Expr) -> bool:
    return isinstance(expr, relax.Var)
