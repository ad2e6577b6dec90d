"""Scopes of a Relax module: which variable is visible where, and every use that is not covered.

The rules are those that TVM's `relax/analysis/well_formed.cc` states (2, 4-8 there), implemented anew. Symbolic
dimensions are ordinary variables and share a namespace with the bindings. A dimension that is a variable alone, in the
type of a parameter or of a match_cast, defines that variable, and must do so before any use, types included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import Binding, Expr, IRModule, RelaxFunction, Type, Var
from oracles.ir.type_facts import facts_in, facts_of
from oracles.ir.walk import CALL, FUNCTION, GLOBAL_VAR, VAR, operands, prim_vars, relax_functions


@dataclass(frozen=True, slots=True, order=True)
class Misuse:
    """One broken scoping rule: `rule` without names of variables, `where` with them. what: the variable, or the name of
    a function."""

    rule: str
    where: str
    what: Var | str = field(default="", compare=False)


@dataclass(slots=True)
class _Frame:
    """What is visible: `defined` ordinary and symbolic variables, `dataflow` those of the block, None outside one."""

    defined: set[Var]
    dataflow: set[Var] | None = None
    outer_dataflow: frozenset[Var] = frozenset()
    recursive: set[Var] = field(default_factory=set)

    def copied(self) -> _Frame:
        """The same things visible, for a branch that must not add to them."""
        dataflow = None if self.dataflow is None else set(self.dataflow)
        return _Frame(set(self.defined), dataflow, self.outer_dataflow, set(self.recursive))


class ScopeChecker:
    """Walks one module once. `found` are the misuses in order of occurrence."""

    def __init__(self, module: IRModule) -> None:
        self.found: list[Misuse] = []
        self._module = module
        self._globals = set(module.functions.keys())
        self._owner: dict[Var, str] = {}
        self._name = ""

    def check(self) -> list[Misuse]:
        """All misuses of all Relax functions."""
        for name, function in relax_functions(self._module):
            self._name = name.name_hint
            self._function(function, _Frame(set()))
        return self.found

    def _report(self, rule: str, what: Var | str) -> None:
        self.found.append(Misuse(rule, f"{getattr(what, 'name', what)} in {self._name}", what))

    def _function(self, function: RelaxFunction, around: _Frame) -> None:
        hidden = around.outer_dataflow | frozenset(around.dataflow or ())
        frame = _Frame(set(around.defined), None, hidden, set(around.recursive))
        for param in function.params:
            self._define_dims(T.type_of(param), frame)
        frame.defined -= set(function.params) - around.defined
        for param in function.params:
            if type(param) is relax.DataflowVar:
                self._report("DataflowVar as a parameter", param)
            if param in frame.defined:
                self._report("variable defined twice", param)
            frame.defined.add(param)
            self._own(param)
            self._type(T.type_of(param), frame, "a parameter's type")
        self._type(T.return_type(function), frame, "the return type")
        self._sequence(function.body, frame)

    def _own(self, var: Var) -> None:
        """A variable may belong to one function of the module only."""
        if self._owner.setdefault(var, self._name) != self._name:
            self._report("variable belongs to two functions", var)

    def _define_dims(self, ty: Type, frame: _Frame) -> None:
        for facts in facts_in(ty):
            for var in facts.bare:
                frame.defined.add(var)
                self._own(var)

    def _type(self, ty: Type, frame: _Frame, where: str) -> None:
        if type(ty) in (T.TensorType, T.ShapeType):
            for var in facts_of(ty).symbols:
                self._symbol(var, frame, where)
        elif type(ty) is T.DistributedType:
            self._type(ty.tensor_ty, frame, where)
        elif type(ty) is T.FuncType:
            if ty.params is not None:
                bound = {var for param in ty.params for facts in facts_in(param) for var in facts.bare}
                inner = _Frame(frame.defined | bound, frame.dataflow, frame.outer_dataflow, frame.recursive)
                for param in ty.params:
                    self._type(param, inner, where)
                self._type(ty.ret, inner, where)
        elif type(ty) is T.TupleType:
            for part in ty.fields[:]:
                self._type(part, frame, where)

    def _symbol(self, var: Var, frame: _Frame, where: str) -> None:
        if type(var) is relax.DataflowVar:
            self._report(f"DataflowVar in {where}", var)
        elif var not in frame.defined and var not in frame.recursive:
            self._report(f"undefined variable in {where}", var)

    def _sequence(self, sequence: Expr, frame: _Frame) -> None:
        if type(sequence) is not relax.SeqExpr:
            self._expr(sequence, frame)
            return
        for block in sequence.blocks[:]:
            if type(block) is relax.DataflowBlock:
                frame.dataflow = set()
            for binding in block.bindings[:]:
                self._binding(binding, frame)
            frame.dataflow = None
        self._expr(sequence.body, frame)

    def _binding(self, binding: Binding, frame: _Frame) -> None:
        var, value = binding.var, binding.value
        if type(value) is FUNCTION:
            frame.recursive.add(var)
        self._expr(value, frame)
        if type(binding) is relax.MatchCast:
            self._define_dims(binding.ty, frame)
            self._type(binding.ty, frame, "the type of a match_cast")
        self._define(var, frame)
        self._type(T.type_of(var), frame, "the type of a variable")
        frame.recursive.discard(var)

    def _define(self, var: Var, frame: _Frame) -> None:
        if type(var) is relax.DataflowVar:
            if frame.dataflow is None:
                self._report("DataflowVar defined outside of a dataflow block", var)
            elif var in frame.dataflow or var in frame.outer_dataflow:
                self._report("variable defined twice", var)
            else:
                frame.dataflow.add(var)
        elif var in frame.defined:
            self._report("variable defined twice", var)
        else:
            frame.defined.add(var)

    def _use(self, var: Var, frame: _Frame) -> None:
        if type(var) is relax.DataflowVar:
            if frame.dataflow is None:
                self._report("DataflowVar used outside of its block", var)
            elif var not in frame.dataflow and var not in frame.outer_dataflow:
                self._report("undefined DataflowVar", var)
        elif var not in frame.defined and var not in frame.recursive:
            self._report("undefined variable", var)
        self._type(T.type_of(var), frame, "the type of a variable")

    def _expr(self, expr: Expr, frame: _Frame) -> None:
        if isinstance(expr, VAR):
            self._use(expr, frame)
        elif type(expr) is GLOBAL_VAR:
            if expr not in self._globals:
                self._report("undefined GlobalVar", expr.name_hint)
        elif type(expr) is FUNCTION:
            self._function(expr, frame)
        elif type(expr) is relax.SeqExpr:
            self._sequence(expr, frame)
        else:
            self._compound(expr, frame)

    def _compound(self, expr: Expr, frame: _Frame) -> None:
        parts = operands(expr)
        for part in parts:
            self._expr(part, frame)
        if type(expr) is relax.If:
            for branch in (expr.true_branch, expr.false_branch):
                self._sequence(branch, frame.copied())
        elif type(expr) is relax.ShapeExpr:
            self._shape(expr.values[:], frame)
        elif type(expr) is CALL:
            for ty in expr.ty_args[:]:
                self._type(ty, frame, "a type argument of a call")
        elif not parts and isinstance(T.type_of(expr), T.PrimType):
            self._shape([expr], frame)
        self._type(T.type_of(expr), frame, "the type of an expression")

    def _shape(self, values: Iterable[Expr | int], frame: _Frame) -> None:
        for value in values:
            for var in prim_vars(value):
                self._use(var, frame)


def misuses(module: IRModule) -> list[Misuse]:
    """Every scoping rule that a module breaks."""
    return ScopeChecker(module).check()
