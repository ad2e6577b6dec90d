"""The reference interpreter for Relax: walks functions, binds values, checks annotations. NumPy only.

Operators are rows of the operator table; calls that are not (call_tir, closures, memory, effects) live in
`calls` and `vm_builtins`; error bounds in `errors_of_result` and `error_rules`; PrimFuncs in `tir`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType

import numpy as np
from tvm import relax, tirx

from generators import tvm_api
from generators.case import EntryCall, Shape
from generators.dtypes import Scalar
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate
from generators.tvm_api import BaseFunc, Binding, Expr, GlobalVar, IRModule, Var
from oracles.ir.walk import functions_of, operands
from oracles.reference.annotations import bind_and_check
from oracles.reference.calling import Packed, Run
from oracles.reference.calls import call_value
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.machine import Activation, Evaluator, Machine
from oracles.reference.memory import check_read
from oracles.reference.noise import Noise
from oracles.reference.recorded_run import RecordedRun
from oracles.reference.sampling import Sampling
from oracles.reference.tir import Context, kernels_of
from oracles.reference.values import Callback, Closure, Runtime, Tensor, carried, from_argument

FUEL = 20_000
"""Bindings that one entry call may evaluate; more counts as endless recursion."""


class Interpreter:
    """Runs public functions of one module.

    Raises Trap where the program has no defined result, Unsupported where the interpreter does not know a construct.

    bounded: values are not rounded and carry error bounds (for the module that a case starts from); otherwise every
    float result is rounded to its dtype, as a straightforward implementation would. floor: in a bounded run, the dtype
    in which every float operation may be computed instead of its own (mixed-precision passes do so on purpose).
    sampling: in a bounded run, what sharpens the bounds.
    packed: the meaning of the caller's own external functions (`generators.externs.HOOKS`). constants: their memory, if
    it outlives an entry call. watch: called with function, variable and value of every parameter and binding.
    synchronised: the scopes in which barriers between GPU threads are explicit; see `tir.Context`. recorded: records
    the functions that are looked up and the calls of PrimFuncs. widened: PrimFuncs hold floats of 16 bits in float64;
    see `tir.widened`.
    """

    def __init__(
        self,
        module: IRModule,
        *,
        bounded: bool = False,
        floor: str | None = None,
        fuel: int = FUEL,
        packed: Mapping[str, Callback] = MappingProxyType({}),
        constants: dict[Hashable, Tensor] | None = None,
        watch: Callable[[str, str, Runtime], None] | None = None,
        synchronised: frozenset[str] = frozenset(),
        recorded: RecordedRun | None = None,
        sampling: Sampling | None = None,
        widened: bool = False,
    ) -> None:
        self.module = module
        self.bounded = bounded
        self.floor = floor
        self.sampling = sampling
        self.fuel = fuel
        self.packed = packed
        self.watch = watch
        self.constants: dict[Hashable, Tensor] = {} if constants is None else constants
        """One memory for all constants of the same contents, as in the VM (ExecBuilder::ConvertConstant), by constant
        and by what it held first: calls in destination-passing style and in place may write into it."""
        self.overwritten: dict[int, tuple[Tensor, Tensor]] = {}
        """Operands of calls in place by their id, with the result that replaces them."""
        self._functions = functions_of(module) if recorded is None else recorded.functions
        prims = [(name, f) for name, f in self._functions.items() if isinstance(f, tirx.PrimFunc)]
        record = None if recorded is None else recorded.record
        carrying = recorded is not None and recorded.carrying
        self.context = Context(kernels_of(prims), synchronised, dict(prims), record, carrying, widened)
        self._asked = set[str]() if recorded is None else recorded.asked

    def run(self, call: EntryCall) -> Runtime:
        """The result of an entry call."""
        with np.errstate(all="ignore"):
            arguments = [from_argument(a) for a in call.arguments]
            return self.apply(self.function(call.function), arguments, call.function)

    def function(self, name: str) -> BaseFunc:
        """The function of this name. Trap when the module has none."""
        if name not in self._functions:
            raise Trap("undefined-variable", f"no function {name}")
        self._asked.add(name)
        return self._functions[name]

    def lookup(self, gvar: GlobalVar) -> BaseFunc:
        """The function that a GlobalVar names. Trap when the module has none."""
        return self.function(gvar.name_hint)

    def apply(self, function: BaseFunc, arguments: list[Runtime], name: str) -> Runtime:
        """The result of a Relax function for a caller outside of the module, who reads it."""
        try:
            result = self.activate(function, arguments, name)
        except RecursionError as error:  # deeper than any drawn recursion, before the fuel is used up
            raise Trap("fuel", f"calls without end in {name}") from error
        check_read(result, f"the caller of function {name}")
        return result

    def activate(
        self, function: BaseFunc, arguments: list[Runtime], name: str, environment: Activation | None = None
    ) -> Runtime:
        """The result of a Relax function on these arguments; `environment` is the frame that a local one captures."""
        if not isinstance(function, relax.Function):
            raise Unsupported(f"call of a {type(function).__name__}")
        if len(function.params) != len(arguments):
            raise Trap("type", f"{name} takes {len(function.params)} arguments, got {len(arguments)}")
        frame = Activation(function=name, inputs=_inputs(function, arguments))
        if environment is not None:
            frame.variables.update(environment.variables)
            frame.symbols.update(environment.symbols)
            frame.killed.update(environment.killed)
            for symbol in _own_symbols(function):
                frame.symbols.pop(symbol, None)
        params = function.params[:]
        for var, argument in zip(params, arguments, strict=True):
            frame.variables[var] = argument
        # Two rounds: a parameter may name a symbol that a later one defines.
        for check in (False, True):
            for var, argument in zip(params, arguments, strict=True):
                bind_and_check(tvm_api.type_of(var), argument, frame.symbols, f"parameter {var.name} of {name}", check)
        if self.watch is not None:
            for var, argument in zip(params, arguments, strict=True):
                self.watch(name, str(var.name), argument)
        result = self.sequence(function.body, frame)
        bind_and_check(tvm_api.return_type(function), result, dict(frame.symbols), f"result of {name}", True)
        return result

    def sequence(self, body: Expr, frame: Activation) -> Runtime:
        """Evaluates the bindings of a SeqExpr in order, then its result."""
        if not isinstance(body, relax.SeqExpr):
            return self.value(body, frame)
        for block in body.blocks[:]:
            for binding in block.bindings[:]:
                self._bind(binding, frame)
        return self.value(body.body, frame)

    def _bind(self, binding: Binding, frame: Activation) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            raise Trap("fuel", f"more bindings than {FUEL} in one call")
        var = frame.binding = binding.var
        if isinstance(binding.value, relax.Function):
            frame.variables[var] = Closure(binding.value, (), frame)
            return
        result = self.value(binding.value, frame)
        where = f"{var.name} in {frame.function}"
        if isinstance(binding, relax.MatchCast):
            bind_and_check(tvm_api.type_of(binding), result, frame.symbols, f"match_cast {where}", False)
            bind_and_check(tvm_api.type_of(binding), result, frame.symbols, f"match_cast {where}", True, "match-cast")
        bind_and_check(tvm_api.type_of(var), result, frame.symbols, f"variable {where}", True)
        frame.variables[var] = result
        if self.watch is not None:
            self.watch(frame.function, str(var.name), result)

    def overwrite(self, operand: Tensor, result: Tensor) -> None:
        """Every holder of `operand` holds `result` from now on; a constant does so in later entry calls as well."""
        if operand is not result:
            self.overwritten[id(operand)] = operand, result
        for constant, tensor in self.constants.items():
            if tensor is operand:
                self.constants[constant] = result

    def current(self, value: Runtime) -> Runtime:
        """A value after calls in place have changed it."""
        if isinstance(value, tuple):
            return tuple(self.current(part) for part in value)
        while id(value) in self.overwritten:
            value = self.overwritten[id(value)][1]
        return value

    def value(self, expr: Expr, frame: Activation) -> Runtime:
        """The value of any expression."""
        rule = EXPRESSIONS.get(type(expr))
        if rule is not None:
            return rule(self, expr, frame)
        value: Runtime = self.prim(expr, frame)
        return value

    def prim(self, expr: Expr, frame: Activation) -> Scalar:
        """The value of a scalar expression over symbols and scalar variables."""
        try:
            return evaluate(expr, frame.symbols)
        except UnboundSymbol as error:
            raise Trap("undefined-variable", f"symbol {error} in {frame.function}") from error
        except UnknownPrimExpr as error:
            raise Unsupported(str(error)) from error
        except ZeroDivisionError as error:
            raise Trap("division-by-zero", f"shape expression {expr} in {frame.function}") from error


def interpreted(
    module: IRModule,
    synchronised: frozenset[str] = frozenset(),
    recorded: RecordedRun | None = None,
    exactly: bool = False,
    widened: bool = False,
) -> Run:
    """Runs functions of a module in the reference; as in the VM, constants keep their memory from call to call.

    exactly: operators of Relax give float64, whatever the dtypes; else every result is rounded to its dtype. PrimFuncs
    compute in their own dtypes. Bounds are sharpened: worst-case ones of many PrimFuncs are soon infinite. widened:
    PrimFuncs of 16 bits are in float64, too, with the bounds that this leaves.
    """
    constants: dict[Hashable, Tensor] = {}

    def run(function: str, arguments: list[Runtime], packed: Packed = MappingProxyType({})) -> Runtime:
        machine = Interpreter(
            module,
            bounded=exactly,
            packed=packed,
            constants=constants,
            synchronised=synchronised,
            recorded=recorded,
            widened=widened,
            sampling=Noise(once=widened) if exactly else None,
        )
        with np.errstate(all="ignore"):
            return machine.apply(machine.function(function), arguments, function)

    return run


def _inputs(function: BaseFunc, arguments: list[Runtime]) -> tuple[Runtime, ...]:
    """The arguments that may differ from call to call: all of them, unless the function says how many are inputs."""
    count = function.attrs.get("num_input") if function.attrs else None
    return tuple(arguments if count is None else arguments[: int(count)])


def _own_symbols(function: BaseFunc) -> list[Var]:
    """Symbols that a local function defines anew by its parameters."""
    return list(relax.analysis.defined_symbolic_vars(function))


def _variable(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    value = frame.variables.get(expr)
    if value is not None:
        return machine.current(value) if machine.overwritten else value
    if expr in frame.symbols:
        return frame.symbols[expr]
    if expr in frame.killed:
        raise Trap("use-after-kill", f"variable {expr.name} of function {frame.function} is used after it was killed")
    raise Trap("undefined-variable", f"variable {expr.name} in {frame.function}")


def _constant(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    ty = tvm_api.type_of(expr)
    dtype = tvm_api.dtype_name(ty) if isinstance(ty, tvm_api.TensorType) else None
    if dtype is None:
        return str(expr.value)  # a dtype or a scope name, as lowered calls take them
    known = machine.constants.get(expr)
    if known is None:
        array = tvm_api.constant_array(expr)
        contents = (dtype, array.shape, array.tobytes())
        known = machine.constants.get(contents)
        known = carried(array, dtype) if known is None else known
        machine.constants[expr] = machine.constants[contents] = known
    return known


def _shape(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    return Shape(tuple([int(machine.prim(d, frame)) for d in expr.values[:]]))


def _tuple(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    return tuple([machine.value(f, frame) for f in operands(expr)])


def _item(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    whole = machine.value(expr.tuple_value, frame)
    if not isinstance(whole, tuple):
        raise Trap("type", f"field {expr.index} of no tuple in {frame.function}")
    if not 0 <= expr.index < len(whole):
        raise Trap("out-of-bounds", f"field {expr.index} of a tuple of {len(whole)} in {frame.function}")
    item: Runtime = whole[int(expr.index)]
    return item


def _if(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    condition = machine.value(expr.cond, frame)
    truth = condition
    if isinstance(condition, Tensor):
        check_read(condition, f"an If of function {frame.function}")
        if condition.value.size != 1:
            raise Trap("type", f"condition of shape {condition.shape} in {frame.function}")
        if condition.error is not None:
            raise Unsupported("If on an undecided condition")
        truth = bool(condition.value.reshape(-1)[0])
    outside = set(frame.variables)
    result = machine.sequence(expr.true_branch if truth else expr.false_branch, frame)
    for variable in [v for v in frame.variables if v not in outside]:
        del frame.variables[variable]
    return result


def _sequence(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    return machine.sequence(expr, frame)


def _global(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    return Closure(machine.lookup(expr), (), None)


def _function(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    return Closure(expr, (), frame)


def _held(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    value: Runtime = machine.prim(expr.value, frame)
    return value


def _string(machine: Machine, expr: Expr, frame: Activation) -> Runtime:
    return str(expr.value)


EXPRESSIONS: dict[type, Evaluator] = {
    relax.Var: _variable,
    relax.DataflowVar: _variable,
    tvm_api.Constant: _constant,
    relax.ShapeExpr: _shape,
    tvm_api.TupleExpr: _tuple,
    tvm_api.TupleGetItem: _item,
    relax.If: _if,
    relax.SeqExpr: _sequence,
    GlobalVar: _global,
    relax.Function: _function,
    **dict.fromkeys(tvm_api.TEXTS, _string),
    relax.Call: call_value,
    **dict.fromkeys(tvm_api.HELD_SCALARS, _held),
}
