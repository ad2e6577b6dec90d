"""The module and the functions under construction: parameters, symbols, names. No choices of statements here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from generators import tvm_api
from generators.operators.specials import NOTHING, Set
from generators.program_facts import Feature
from generators.ranges import Range, Ranges
from generators.relax.knobs import DEFAULT, Knobs
from generators.relax.values import Dim, SymbolicDim, Value, dim_expr, extent
from generators.source import Source
from generators.tvm_api import BaseFunc, Expr, GlobalVar, Node, Type, Var


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """How to fill one parameter: a tensor with this run-time shape and contents, a shape, or a tuple of them."""

    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    range: Range = Range(0, 1)
    is_shape: bool = False
    fields: tuple[ParameterSpec, ...] | None = None
    specials: Set = NOTHING
    """Which special floats it may hold."""
    meant: bool = False
    """It was drawn for them."""


@dataclass(frozen=True, slots=True)
class PrivateFunction:
    """A finished function that later ones may call: its parameters and the range of its result."""

    gvar: GlobalVar
    parameters: tuple[tuple[Var, ParameterSpec], ...]
    result: Ranges
    pure: bool = True


@dataclass(slots=True)
class ModuleFrame:
    """The module under construction; `builder` is used for normalisation and type inference only."""

    knobs: Knobs = DEFAULT
    builder: tvm_api.relax.BlockBuilder = field(default_factory=tvm_api.relax.BlockBuilder)
    functions: dict[GlobalVar, BaseFunc] = field(default_factory=dict)
    """GlobalVar -> Function or PrimFunc, in the order of making."""
    vdevices: tuple[Node, ...] = ()
    features: frozenset[Feature] = frozenset()
    """The features that were asked for."""
    private: list[PrivateFunction] = field(default_factory=list)
    public: dict[str, FunctionFrame] = field(default_factory=dict)
    """The public functions besides main, by name."""
    alike: set[str] = field(default_factory=set)
    """Functions each of whose symbols has the value of that of main of the same name, in every call."""
    serial: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    drawn: Counter[str] = field(default_factory=Counter)
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    constants: list[tuple[Expr, int]] = field(default_factory=list)
    """The constants, with the seeds of their contents."""
    drawing: str = ""
    """The operator row being drawn, to blame when type inference refuses the call."""

    def new_name(self, stem: str) -> str:
        """A name that no other function of the module has."""
        self.serial += 1
        return f"{stem}{self.serial}"

    def add(self, name: str, function: BaseFunc) -> GlobalVar:
        """Adds a function under `name`; its GlobalVar, annotated with the function's type."""
        gvar = tvm_api.relax.GlobalVar(name)
        tvm_api.set_type(gvar, tvm_api.type_of(function))
        self.functions[gvar] = function
        return gvar


@dataclass(slots=True)
class FunctionFrame:
    """A function under construction.

    open: operands may still become parameters. symbolic: dims may be symbolic. symbols: every symbol's
    value in the first entry call. late: symbols that a match_cast defined, which parameters cannot name.
    """

    module: ModuleFrame
    open: bool = True
    symbolic: bool = True
    parameters: list[tuple[Var, ParameterSpec]] = field(default_factory=list)
    symbols: dict[Var, int] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    prefix: str = "v"
    serial: int = 0
    impure: bool = False
    level: int = 0
    """How many functions call each other above this one."""
    weights: set[Var] = field(default_factory=set)
    """Parameters (their variables) that stand last and are no inputs in the sense of `num_input`."""
    fixed: set[Var] = field(default_factory=set)
    """Variables whose value depends on no parameter."""
    kept: list[Var] = field(default_factory=list)
    """Variables that the function should return."""
    kept_alone: bool = False
    """It returns all of these in a tuple, in their order, and nothing else."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Attributes of the finished function."""
    borrowed: list[str] = field(default_factory=list)
    """Names of other variables that the next ones take, the last first: a name does not tell variables apart."""
    loss_place: int = 0
    """The place of the loss among the results."""
    loss: Var | None = None
    """The scalar variable that a function which shall be differentiated returns (first)."""

    @property
    def num_input(self) -> int:
        """The number of inputs among the parameters; the weights follow them."""
        return sum(var not in self.weights for var, _ in self.parameters)

    def is_fixed(self, expr: Expr) -> bool:
        """Whether an expression is a constant, or a call or tuple of constants and fixed variables."""
        if isinstance(expr, tvm_api.relax.Var):
            return expr in self.fixed
        if isinstance(expr, tvm_api.relax.Call):
            return bool(expr.args) and all(self.is_fixed(argument) for argument in expr.args)
        if isinstance(expr, tvm_api.relax.Tuple):
            return all(self.is_fixed(field) for field in expr.fields)
        return isinstance(expr, (tvm_api.Constant, tvm_api.relax.ShapeExpr))

    def order_parameters(self) -> None:
        """Moves the weights after the inputs."""
        self.parameters.sort(key=lambda parameter: parameter[0] in self.weights)

    @property
    def parameter_vars(self) -> set[Var]:
        """The parameters' variables."""
        return {var for var, _ in self.parameters}

    def new_var(self, ty: Type, *, dataflow: bool = False, stem: str | None = None) -> Var:
        """A fresh variable of this type."""
        self.serial += 1
        name = self.borrowed.pop() if self.borrowed and stem is None else f"{stem or self.prefix}{self.serial}"
        return (tvm_api.relax.DataflowVar if dataflow else tvm_api.relax.Var)(name, ty)

    def draw_symbol(self, source: Source) -> SymbolicDim:
        """A symbolic dim: one that the function has, or a new one that the next parameter will define."""
        own = [v for v in self.symbols if v.name not in self.late]
        if own and source.flip(self.module.knobs.functions.same_symbol):
            chosen = source.pick(own)
            return SymbolicDim(chosen, self.symbols[chosen], chosen.name)
        return self.new_symbol(source)

    def new_symbol(self, source: Source) -> SymbolicDim:
        """A new symbolic dim that the next parameter will define."""
        return self.new_symbol_of(source.pick((2, 3, 4, 1, 5)))

    def new_symbol_of(self, value: int) -> SymbolicDim:
        """The same with this value in the first entry call."""
        name = f"{'nmkpqrstuw'[len(self.symbols) % 10]}{'' if len(self.symbols) < 10 else len(self.symbols)}"
        symbol = tvm_api.symbol(name)
        self.symbols[symbol] = value
        return SymbolicDim(symbol, value, name)

    def new_late_symbol(self, value: int) -> SymbolicDim:
        """A symbol for a match_cast to define inside the body."""
        name = f"s{len(self.symbols)}"
        symbol = tvm_api.symbol(name)
        self.symbols[symbol] = value
        self.late.add(name)
        return SymbolicDim(symbol, value, name)

    def may_annotate(self, dim: Dim) -> bool:
        """Whether a parameter's type may name this dim: no symbol in it is defined late."""
        if isinstance(dim, int):
            return True
        return all(v.name not in self.late for v in _symbols_in(dim.expr, self.symbols))

    def add_parameter(self, dims: tuple[Dim, ...], dtype: str, values: Range) -> Value:
        """A new tensor parameter whose type names exactly these dims."""
        ty = tvm_api.tensor_type([dim_expr(d) for d in dims], dtype)
        shape = tuple(extent(d) for d in dims)
        return self.add_typed_parameter(ty, dims, shape, dtype, values)

    def add_typed_parameter(
        self, ty: Type, dims: tuple[Dim, ...] | None, shape: tuple[int, ...], dtype: str, values: Range
    ) -> Value:
        """A new tensor parameter of type `ty`, which may hide the dims; `dims` is then None."""
        var = self.new_var(ty, stem="p")
        self.parameters.append((var, ParameterSpec(shape, dtype, values)))
        return Value(var, dims, shape, dtype, values)

    def undefined_symbols(self) -> list[SymbolicDim]:
        """Symbols that no parameter defines by standing alone as one of its dims, and no match_cast either."""
        defined = set(self.late)
        for var, _ in self.parameters:
            defined |= {d.name for d in _plain_symbols(tvm_api.type_of(var))}
        return [SymbolicDim(v, n, v.name) for v, n in self.symbols.items() if v.name not in defined]


def _plain_symbols(ty: Type) -> list[Var]:
    """Symbols that a parameter of this type defines: dims that are a variable alone."""
    if isinstance(ty, tvm_api.TensorType):
        shape = ty.shape
        dims = list(shape.values) if isinstance(shape, tvm_api.relax.ShapeExpr) else []
        return [d for d in dims if isinstance(d, tvm_api.tirx.Var)]
    if isinstance(ty, tvm_api.ShapeType):
        return [d for d in (ty.values or ()) if isinstance(d, tvm_api.tirx.Var)]
    if isinstance(ty, tvm_api.TupleType):
        return [s for t in ty.fields for s in _plain_symbols(t)]
    return []


def _symbols_in(expr: Expr, symbols: dict[Var, int]) -> list[Var]:
    if isinstance(expr, tvm_api.tirx.Var):
        return [expr]
    found: list[Var] = []
    for side in ("a", "b", "value"):
        child = getattr(expr, side, None)
        if child is not None and not isinstance(child, int):
            found += _symbols_in(child, symbols)
    return found
