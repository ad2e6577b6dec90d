"""Turns drafts back into TVM's IR: fresh variables, swaps applied, every binding normalised and typed anew.

Gives up with an exception where TVM's type inference or its verifier does; nothing that comes out is ill-formed
unless the input was. Worker processes only (imports tvm).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import relax, tirx

from corpus.reduce.callees import callees_first, refers_to
from corpus.reduce.draft import (
    ARITHMETIC,
    CALL,
    GLOBAL_VAR,
    TUPLE,
    TUPLE_GET_ITEM,
    VAR,
    Body,
    BoundValue,
    Branch,
    Draft,
    DraftBinding,
    DraftBlock,
    ModuleDraft,
    all_binds,
    inner_sequences,
)
from corpus.reduce.prim_func import rebuilt
from generators import tvm_api as T

TVM_ERRORS = (ValueError, TypeError, RuntimeError, LookupError, AttributeError, NotImplementedError)
"""What type inference, constructors and verifiers of TVM raise."""


ROUNDS = 3
"""How often a module is built until the result types that recursive calls were given are those that came out."""


class GaveUp(Exception):
    """TVM does not accept the draft; the message is TVM's."""


@dataclass(frozen=True, slots=True)
class Realised:
    """A live module with the types that the draft's original variables (and parameters) got in it."""

    module: T.IRModule
    types: Mapping[T.Var, T.Type]


def realise(draft: ModuleDraft, *, verify: bool = True) -> Realised:
    """Builds the module. GaveUp when it cannot be typed or (with `verify`) is not well-formed."""
    returned: dict[str, T.Type] = {}
    try:
        for _ in range(ROUNDS):
            rebuilder = Rebuilder(draft, returned)
            module = rebuilder.module()
            wrong = rebuilder.wrong_guesses(module)
            if not wrong:
                break
            returned |= wrong
        if verify:
            relax.analysis.well_formed(module)
    except TVM_ERRORS as error:
        raise GaveUp(f"{type(error).__name__}: {error}") from error
    return Realised(module, rebuilder.types)


def as_it_is(module: T.IRModule) -> Callable[[ModuleDraft], Realised]:
    """Realises drafts of the module that only lack functions, attributes, and parameters of functions without callers.

    The bodies stay the objects that they are: for modules that do not survive being rebuilt."""
    originals = {name.name_hint: (name, function) for name, function in module.functions.items()}
    verified: ModuleDraft | None = None

    def realise_kept(draft: ModuleDraft) -> Realised:
        nonlocal verified
        kept = dict(originals[name] for name in draft.functions)
        functions = {}
        for name, function in kept.items():
            left = draft.functions[name.name_hint]
            shorter = isinstance(left, Draft) and len(left.params) < len(function.params)
            functions[tvm.ir.GlobalVar(name.name_hint) if shorter else name] = (
                _with_fewer_parameters(function, left) if shorter else function
            )
        attrs = tvm.ir.make_node("ir.DictAttrs", **draft.attrs) if draft.attrs else None
        try:
            made = tvm.IRModule(functions, attrs=attrs, global_infos=dict(draft.infos) or None)
            if draft is not verified:  # else only passes and calls have changed
                relax.analysis.well_formed(made)
        except TVM_ERRORS as error:
            raise GaveUp(f"{type(error).__name__}: {error}") from error
        verified = draft
        return Realised(made, {})

    return realise_kept


def _with_fewer_parameters(function: T.RelaxFunction, left: Draft) -> T.RelaxFunction:
    attrs = tvm.ir.make_node("ir.DictAttrs", **left.attrs) if left.attrs else None
    return relax.Function(list(left.params), function.body, T.return_type(function), left.pure, attrs)


class Rebuilder:
    """Copies a draft into TVM's IR, mapping old variables to fresh ones."""

    def __init__(self, draft: ModuleDraft, returned: Mapping[str, T.Type]) -> None:
        self.draft = draft
        self.types: dict[T.Var, T.Type] = {}
        self._returned = returned
        self._guessed: dict[str, T.Type] = {}
        self._fresh: dict[T.Var, T.Var] = {}
        self._globals: dict[str, T.GlobalVar] = {}
        self._builder = relax.BlockBuilder()
        self._analyzer = tvm.sym.Analyzer()

    def module(self) -> T.IRModule:
        """The whole module, callees before callers."""
        functions = {}
        for name in callees_first(self.draft):
            function = self.draft.functions[name]
            built = self._function(function) if isinstance(function, Draft) else self._prim_func(function)
            if name not in self._globals:
                self._globals[name] = self._typed(name, T.type_of(built))
            functions[self._globals[name]] = built
        in_order = sorted(functions.items(), key=lambda pair: pair[0].name_hint)
        attrs = tvm.ir.make_node("ir.DictAttrs", **self.draft.attrs) if self.draft.attrs else None
        return tvm.IRModule(dict(in_order), attrs=attrs, global_infos=dict(self.draft.infos) or None)

    def wrong_guesses(self, module: T.IRModule) -> dict[str, T.Type]:
        """The types of results that functions of the built module have, where calls before them took another one."""
        built = {name: T.return_type(module[name]) for name in self._guessed}
        return {name: ty for name, ty in built.items() if not tvm_ffi.structural_equal(ty, self._guessed[name])}

    def _prim_func(self, function: T.BaseFunc) -> T.BaseFunc:
        if not isinstance(function, tirx.PrimFunc):
            return function
        function = rebuilt(function, self.draft.nodes) if self.draft.nodes else function
        if not refers_to(function):
            return function
        return function.with_body(
            tvm_ffi.structural_map(function.body, [(GLOBAL_VAR, lambda gvar: self._global(gvar.name_hint))])
        )

    def _global(self, name: str) -> T.GlobalVar:
        """The function where it is referred to. In recursion it is not built yet, and its type is a guess."""
        if name in self._globals:
            return self._globals[name]
        function = self.draft.functions.get(name)
        if function is None:
            return self._globals.setdefault(name, tvm.ir.GlobalVar(name))
        if isinstance(function, Draft):
            self._guessed[name] = self._returned.get(name, self._type(function.returns))
            ty = self._signature(function, self._guessed[name])
        else:
            ty = T.type_of(function)
        return self._globals.setdefault(name, self._typed(name, ty))

    def _typed(self, name: str, ty: T.Type) -> T.GlobalVar:
        variable = tvm.ir.GlobalVar(name)
        T.set_type(variable, ty)
        return variable

    def _signature(self, draft: Draft, returns: T.Type) -> T.Type:
        params = [self._type(draft.types.get(param, T.type_of(param))) for param in draft.params]
        return T.FuncType(params, returns, draft.pure)

    def _function(self, draft: Draft) -> T.RelaxFunction:
        params = []
        for param in draft.params:
            ty = self._type(draft.types.get(param, T.type_of(param)))
            # A scalar parameter occurs inside shapes, which are copied as they are, so it stays itself.
            fresh = param if isinstance(ty, T.PrimType) else tvm.ir.Var(self._name(param), ty)
            self._fresh[param], self.types[param] = fresh, ty
            params.append(fresh)
        body = self._builder.normalize(self._body(draft.body))
        attrs = tvm.ir.make_node("ir.DictAttrs", **draft.attrs) if draft.attrs else None
        return relax.Function(params, body, None, draft.pure, attrs)

    def _body(self, body: Body) -> T.Expr:
        after = self._used_after(body)
        blocks = [self._block(block, used) for block, used in zip(body.blocks, after, strict=True)]
        return self._builder.normalize(relax.SeqExpr(blocks, self._expr(body.result)))

    def _used_after(self, body: Body) -> list[set[T.Var]]:
        """For each block the variables that are used after it."""
        used = set(self.draft.uses(body.result))
        after: list[set[T.Var]] = []
        for block in reversed(body.blocks):
            after.append(set(used))
            used |= set(self._uses_of(block.binds))
        return after[::-1]

    def _uses_of(self, binds: tuple[DraftBinding, ...]) -> Iterator[T.Var]:
        for bind in binds:
            yield from self.draft.uses(bind.value)
            for inner in inner_sequences(bind.value):
                yield from self.draft.uses(inner.result)
                yield from self._uses_of(tuple(all_binds(inner)))

    def _block(self, block: DraftBlock, used: set[T.Var]) -> T.BindingBlock:
        make = relax.DataflowBlock if block.dataflow else relax.BindingBlock
        return make([self._bind(bind, self._is_local(bind, block, used)) for bind in block.binds])

    def _is_local(self, bind: DraftBinding, block: DraftBlock, used: set[T.Var]) -> bool:
        """Whether the variable is seen inside its dataflow block only."""
        if not block.dataflow or bind.var in used:
            return False
        return self.draft.demoted or isinstance(bind.var, relax.DataflowVar)

    def _bind(self, bind: DraftBinding, local: bool) -> T.Binding:
        make = relax.DataflowVar if local else tvm.ir.Var
        if bind.cast is not None:
            ty = self._type(bind.cast)
            var = self._define(bind, make, ty)
            return relax.MatchCast(var, self._expr(bind.value), ty)
        if isinstance(bind.value, Draft) and bind.var in self.draft.used_in(bind.value):
            own = self._define(bind, make, self._signature(bind.value, self._type(bind.value.returns)))
            return relax.VarBinding(own, self._value(bind.value))
        value = self._value(bind.value)
        return relax.VarBinding(self._define(bind, make, self._annotation(bind, T.type_of(value))), value)

    def _annotation(self, bind: DraftBinding, inferred: T.Type) -> T.Type:
        """What TVM infers; for an If the type from before, where that is vaguer: a failure may depend on it."""
        stood = self._type(T.type_of(bind.var))
        vaguer = relax.analysis.BaseCheckResult.PASS
        if isinstance(bind.value, Branch) and relax.analysis.type_base_check(stood, inferred) == vaguer:
            return stood
        return inferred

    def _define(self, bind: DraftBinding, make: Callable[[str, T.Type], T.Var], ty: T.Type) -> T.Var:
        var = make(self._name(bind.var), ty)
        self._fresh[bind.var], self.types[bind.var] = var, ty
        return var

    def _name(self, var: T.Var) -> str:
        return self.draft.names.get(var, str(var.name))

    def _value(self, value: BoundValue) -> T.Expr:
        match value:
            case Branch():
                branch = relax.If(self._expr(value.condition), self._body(value.then), self._body(value.otherwise))
                return self._builder.normalize(branch)
            case Draft():
                return self._function(value)
            case _:
                return self._builder.normalize(self._expr(value))

    # --- expressions ------------------------------------------------------------------------------------

    def _expr(self, expr: T.Expr) -> T.Expr:
        if isinstance(expr, VAR):
            return self._leaf(expr)
        if isinstance(expr, CALL):
            if isinstance(T.type_of(expr), T.PrimType) and not isinstance(expr.op, (VAR, GLOBAL_VAR)):
                return self._prim(expr)
            return self._call(expr)
        if isinstance(expr, TUPLE):
            return TUPLE([self._expr(field) for field in expr.fields])
        if isinstance(expr, TUPLE_GET_ITEM):
            whole = self._expr(expr.tuple_value)
            return whole.fields[expr.index] if isinstance(whole, TUPLE) else TUPLE_GET_ITEM(whole, expr.index)
        if isinstance(expr, relax.ShapeExpr):
            return relax.ShapeExpr([self._prim(extent) for extent in expr.values]) if self.draft.symbols else expr
        if isinstance(expr, GLOBAL_VAR):
            return self._global(expr.name_hint)
        return self._prim(expr) if isinstance(expr, ARITHMETIC) else expr

    def _leaf(self, var: T.Var) -> T.Expr:
        if var in self.draft.swaps:
            return self._expr(self.draft.swaps[var])
        if var in self.draft.symbols:
            return tirx.IntImm("int64", self.draft.symbols[var])
        return self._fresh.get(var, var)

    def _call(self, call: T.Call) -> T.Call:
        arguments = [self._expr(argument) for argument in call.args]
        op = self._expr(call.op)
        return CALL(op, arguments, call.attrs, [self._type(ty) for ty in call.ty_args])

    def _prim(self, expr: T.Expr) -> T.Expr:
        if not self.draft.symbols:
            return expr
        return self._analyzer.simplify(tvm_ffi.structural_map(expr, [(VAR, self._number)]))

    def _number(self, var: T.Var) -> T.Expr:
        return tirx.IntImm("int64", self.draft.symbols[var]) if var in self.draft.symbols else var

    def _type(self, ty: T.Type) -> T.Type:
        if not self.draft.symbols or ty is None:
            return ty
        mapped = tvm_ffi.structural_map(ty, [(VAR, self._number)])
        return tvm_ffi.structural_map(mapped, [(ARITHMETIC, self._analyzer.simplify)])
