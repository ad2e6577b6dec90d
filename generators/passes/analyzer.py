"""Rows of `tvm.sym`: what its analyzer says of integer expressions, as passes over every PrimFunc.

These are no passes of TVM. They use its Python API as a schedule or a code generator does: loop variables are bound to
their ranges where those are numbers, and each integer store is replaced by what the analyzer says is equal to it. Where
the analyzer makes a claim (a bound, a remainder, an integer set), the stored value is forced to fulfil the claim: it
changes only if the claim is wrong. Conditions around a store are not given to the analyzer, so that all that
it knows is true.
"""

from __future__ import annotations

from generators.passes.row import Fires, PassRow, Phase, Place, Promise, Rate
from generators.program_facts import Feature

_BOUND = (
    "(tirx.For, lambda loop: (isinstance(loop.min, tirx.IntImm) and isinstance(loop.extent, tirx.IntImm) and "
    "known.bind(loop.loop_var, tvm.ir.Range.from_min_extent(loop.min, loop.extent), True), loop)[1])"
)
_STORE = (
    "(tirx.BufferStore, lambda store: tirx.BufferStore(store.buffer, {value}, {indices}) "
    "if str(store.value.ty).rstrip('0123456789') in {kinds} else store)"
)
"""Stores of one lane; the type of vectors ends in `x4`."""
_COMPARISON = (
    "((tirx.LT, tirx.LE, tirx.GT, tirx.GE, tirx.EQ, tirx.NE), lambda e: "
    "e if 'float' in str(e.a.ty) or str(e.ty) != 'bool' else "
    "tirx.IntImm('bool', 1) if known.can_prove(e) else tirx.IntImm('bool', 0) if known.can_prove(tirx.Not(e)) else e)"
)


def _text(change: str, names: str = "") -> str:
    """The pass that binds loop variables and makes the change. names: bindings to make before."""
    return (
        f"tirx.transform.prim_func_pass(lambda func, mod, ctx: (known := tvm.sym.Analyzer(), {names}"
        f"tvm_ffi.structural_map(func, [{_BOUND}, {change}], order='pre'))[-1], opt_level=0, name='Analyzer')"
    )


def _rewritten(method: str) -> str:
    """Stores of the result of a simplifier."""
    rewritten = f"[known.{method}(e) for e in store.indices]"
    return _STORE.format(value=f"known.{method}(store.value)", indices=rewritten, kinds="('int', 'uint', 'bool')")


def _claimed(said: str, value: str, says: str) -> str:
    """Stores of `value`: an expression over the stored value (`v`, as int64) and the claim (`s`). `says`: whether the
    claim says something and all of its numbers fit the type of the value; a store stays otherwise, and so does a copy,
    of whose value nothing is known and which other passes look for."""
    claimed = f"(lambda e, v, s: tirx.Cast(str(e.ty), {value}) if {says} else e)"
    arguments = f"(store.value, tirx.Cast('int64', store.value), known.{said}(store.value))"
    kinds = "('int', 'uint') and not hasattr(store.value, 'indices')"
    return _STORE.format(value=claimed + arguments, indices="store.indices", kinds=kinds)


_TOLD = (
    "number := lambda n: tirx.IntImm('int64', int(n)), fits := lambda e, *ends: all("
    "np.iinfo(str(e.ty)).min <= int(end) <= np.iinfo(str(e.ty)).max for end in ends), "
)
_WITHIN = "tirx.Max(tirx.Min(v, number(s.max_value)), number(s.min_value))"
_BOUNDED = "fits(e, s.min_value, s.max_value)"
_MULTIPLE = "tirx.floordiv(v - s.base, s.coeff) * s.coeff + s.base if s.coeff else number(s.base)"
_NUMBERS = "all(isinstance(end, tirx.IntImm) for end in (s.min_value, s.max_value))"
_COVERED = f"'truncmod' not in str(e) and {_NUMBERS} and {_BOUNDED}"
"""Of truncmod the set holds only where the dividend is not negative: "The logic below assumes a is non-negative"
(Combine<Mod> in src/arith/int_set.cc)."""
_ITERATORS = (
    "tirx.transform.prim_func_pass(lambda func, mod, ctx: (ranges := {}, simple := lambda indices: "
    "tvm.sym.iter_map_simplify(indices, ranges, check_level='nocheck'), tvm_ffi.structural_map(func, ["
    "(tirx.For, lambda loop: (ranges.update({loop.loop_var: tvm.ir.Range.from_min_extent(loop.min, loop.extent)}), "
    "loop)[1]), (tirx.BufferStore, lambda store: tirx.BufferStore(store.buffer, simple([store.value])[0], "
    "simple(store.indices)) if str(store.value.ty) in ('int32', 'int64') else store)], order='pre'))[-1], "
    "opt_level=0, name='IterMapSimplify')"
)


def _row(name: str, rate: Rate, why: str, *sources: str) -> PassRow:
    return PassRow(
        name,
        sources,
        why,
        Place(frozenset({Phase.LEGAL})),
        promise=Promise(idempotent=False),
        fires=Fires(wants=frozenset({Feature.INTEGERS}), rate=rate),
    )


ROWS: tuple[PassRow, ...] = (
    _row(
        "sym.Analyzer[simplify]",
        Rate(6),
        "python/tvm/sym/analyzer.py: simplifiers give what is equal for every value of the variables",
        _text(_rewritten("simplify")),
        _text(_rewritten("rewrite_simplify")),
        _text(_rewritten("canonical_simplify")),
    ),
    _row(
        "sym.Analyzer[can_prove]",
        Rate(1),
        "python/tvm/sym/analyzer.py: what can be proven is true",
        _text(_COMPARISON),
    ),
    _row(
        "sym.Analyzer[const_int_bound]",
        Rate(6),
        "python/tvm/sym/analyzer.py: every value lies in the bound",
        _text(_claimed("const_int_bound", _WITHIN, _BOUNDED), _TOLD),
    ),
    _row(
        "sym.Analyzer[modular_set]",
        Rate(3),
        "python/tvm/sym/analyzer.py: every value is base and a multiple of coeff",
        _text(_claimed("modular_set", _MULTIPLE, "s.coeff != 1"), _TOLD),
    ),
    _row(
        "sym.Analyzer[int_set]",
        Rate(4),
        "python/tvm/sym/analyzer.py: the set covers every value; ends that are numbers are judged",
        _text(_claimed("int_set", _WITHIN, _COVERED), _TOLD),
    ),
    _row(
        "sym.iter_map_simplify",
        Rate(4),
        "python/tvm/sym/iter_affine_map.py: what is equal for every value of the loop variables, as FlattenBuffer asks",
        _ITERATORS,
    ),
)
