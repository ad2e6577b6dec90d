"""Comparing modules: where they differ, and forms of a module for comparison without names or dead functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import tvm
import tvm_ffi
from tvm import relax, tirx
from tvm_ffi.access_path import AccessKind, AccessPath

from generators import tvm_api as T
from generators.tvm_api import BaseFunc, Expr, GlobalVar, IRModule, Node, Var
from oracles.ir.cache import addresses
from oracles.ir.walk import CALL, FUNCTION, GLOBAL_VAR, PRIM_FUNC, functions_of, items


def equal(one: Node, other: Node) -> bool:
    """Structurally equal, names of functions, attributes and global infos included; names of variables are not.

    Free variables are matched with each other: annotations of PrimFuncs hold buffers that nothing defines. Functions
    of a module that share parameters, as one PrimFunc under two names does, are compared one by one: TVM's comparison
    of the whole finds a parameter once, and calls modules with and without such sharing different.
    """
    if T.structural_equal(one, other, map_free_vars=True):
        return True
    if not (isinstance(one, tvm.IRModule) and isinstance(other, tvm.IRModule)):
        return False
    return (_shares_parameters(one) or _shares_parameters(other)) and _equal_by_parts(one, other)


def _shares_parameters(module: IRModule) -> bool:
    ours = [function for function in functions_of(module).values() if isinstance(function, (FUNCTION, PRIM_FUNC))]
    parameters = addresses([param for function in ours for param in items(function.params)])
    return len(set(parameters)) < len(parameters)


def _equal_by_parts(one: IRModule, other: IRModule) -> bool:
    ours, theirs = functions_of(one), functions_of(other)
    pairs: list[tuple[Node, Node]] = [(one.attrs, other.attrs), (one.global_infos, other.global_infos)]
    pairs += [(ours[name], theirs[name]) for name in ours.keys() & theirs.keys()]
    return ours.keys() == theirs.keys() and all(T.structural_equal(*pair, map_free_vars=True) for pair in pairs)


def same_bindings(one: Node, other: Node) -> bool:
    """Equal, or equal but for how bindings are gathered in blocks and which of them a dataflow block gives out.

    Every mutator of TVM merges neighbouring blocks and shortens R.output lists as a by-product, some of them at each
    application.
    """
    return equal(one, other) or equal(without_blocks(one), without_blocks(other))


def without_blocks(module: IRModule) -> IRModule:
    """The module with one plain block in each sequence of bindings, for comparison only."""
    plain: dict[Var, Var] = {}

    def ordinary(var: Var) -> Var:
        return plain.setdefault(var, relax.Var(var.name, T.type_of(var)))

    def merged(sequence: Expr) -> Expr:
        bindings = [binding for block in sequence.blocks for binding in block.bindings]
        whole = relax.SeqExpr([relax.BindingBlock(bindings)] if bindings else [], sequence.body)
        T.set_type(whole, T.type_of(sequence))
        return whole

    def put(function: BaseFunc) -> BaseFunc:
        if not isinstance(function, FUNCTION):
            return function
        return tvm_ffi.structural_map(function, [(relax.DataflowVar, ordinary), (relax.SeqExpr, merged)])

    functions = {name: put(function) for name, function in module.functions.items()}
    return T.replace_functions(module, functions)


@relax.expr_functor.mutator
class _Rebuilds(relax.PyExprMutator):  # type: ignore[misc]
    """Changes nothing itself."""


def rebuilt(module: IRModule) -> IRModule:
    """The module as a mutator of TVM leaves it that has nothing to change: variables that are bound have the type of
    what is bound, where that says more than their own."""
    functions = {
        name: _Rebuilds().visit_expr(function) if isinstance(function, FUNCTION) else function
        for name, function in module.functions.items()
    }
    return T.replace_functions(module, functions)


def first_difference(one: Node, other: Node) -> tuple[str, str]:
    """Where two modules first differ: a short kind of place, and the full path in both."""
    found = tvm_ffi.get_first_structural_mismatch(one, other, map_free_vars=True)
    if found is None:
        return "nowhere", ""
    left, right = str(found[0]), str(found[1])
    return _place(left), f"{left}\n{right}"


_NUMBERS = (tirx.IntImm, tirx.FloatImm)
_PLAIN = (bool, int, float, str)


def first_changed_node(one: Node, other: Node) -> str:
    """How the first node in which two modules differ comes back: "If comes back as SeqExpr", or with another field.

    A computation that the parser folds, to a constant or to one of its operands, counts as one kind, whatever its
    operator. A plain Python value that stands for a node, as 1 does for an IntImm, is told by its type."""
    found = tvm_ffi.get_first_structural_mismatch(one, other, map_free_vars=True)
    if found is None:
        return "everything comes back"
    ours, theirs = (list(_nodes_along(root, path)) for root, path in zip((one, other), found, strict=True))
    if isinstance(ours[-1], _PLAIN) and isinstance(theirs[-1], _PLAIN):
        del ours[-1], theirs[-1]
    (*around, left), right = ours, theirs[-1]
    before, after = _kind(left), _kind(right)
    if before != after:
        if _is_folded(left, right):
            return "what is computed comes back folded"
        return f"{before}{f' in {_kind(around[-1])}' if isinstance(right, _PLAIN) else ''} comes back as {after}"
    fields = [step.key for step in found[0].to_steps() if step.kind == AccessKind.ATTR]
    place = f" in {_kind(around[-1])}" if around else ""
    return f"{before}{place} comes back with another {fields[-1] if fields else 'content'}"


def _is_folded(computed: Node, again: Node) -> bool:
    """Whether a primitive expression has become a number, or one of its operands, with variables of the same names."""
    if not isinstance(getattr(computed, "ty", None), T.PrimType):
        return False
    operands = [getattr(computed, field) for field in ("a", "b") if hasattr(computed, field)]
    return isinstance(again, _NUMBERS) or any(str(operand) == str(again) for operand in operands)


def _nodes_along(root: Node, path: AccessPath) -> Iterator[Node]:
    """The nodes of the IR from the root to where the path ends, or to the last that Python can reach; a plain value
    of Python that stands at the end too."""
    here = root
    yield here
    for step in path.to_steps():
        try:
            here = getattr(here, step.key) if step.kind == AccessKind.ATTR else here[step.key]
        except (AttributeError, LookupError, TypeError, ValueError):
            return
        if isinstance(here, _PLAIN) or (
            isinstance(here, tvm_ffi.Object) and not isinstance(here, tvm_ffi.Array | tvm_ffi.Map)
        ):
            yield here


def _kind(node: Node) -> str:
    return (T.op_name(node) if isinstance(node, CALL) else None) or type(node).__name__


def _place(path: str) -> str:
    """The part of an access path that is the same for two sightings of one bug: its outermost field."""
    for field in ("attrs", "global_infos"):
        if path.startswith(f"<root>.{field}"):
            return f"the module's {field}"
    if "<missing" in path.split("]")[0]:
        return "the set of functions"
    return "the type of a function" if ").ty" in path else "a function"


def public_names(module: IRModule) -> list[str]:
    """The names of the public functions, sorted."""
    return sorted(name.name_hint for name, function in module.functions.items() if T.is_public(function))


def part_from(module: IRModule, roots: list[str]) -> IRModule:
    """The functions that those named `roots` reach, the others renamed in order of first reach.

    Names of private functions come from a pass's name supply, which may depend on functions without a caller.
    Roots that the module does not have are left out. The result is for comparison only.
    """
    named = {name.name_hint: name for name in module.functions}
    order = [named[root] for root in roots if root in named]
    count = len(order)
    seen = set(order)
    for name in order:
        for callee in global_vars(module[name]):
            if callee not in seen and callee in module.functions:
                seen.add(callee)
                order.append(callee)
    renamed: dict[GlobalVar, GlobalVar] = {}
    for index, name in enumerate(order):
        renamed[name] = GLOBAL_VAR(name.name_hint if index < count else f"private_{index}")
        T.set_type(renamed[name], T.type_of(name))

    def put(name: GlobalVar) -> GlobalVar:
        return renamed.get(name, name)

    functions = {renamed[name]: tvm_ffi.structural_map(module[name], (GLOBAL_VAR, put)) for name in order}
    return T.replace_functions(module, functions)


def global_vars(function: BaseFunc) -> list[GlobalVar]:
    """The GlobalVars that a function mentions, in order of first occurrence."""
    found: dict[GlobalVar, None] = {}

    def see(name: GlobalVar) -> GlobalVar:
        found[name] = None
        return name

    tvm_ffi.structural_map(function, (GLOBAL_VAR, see))
    return list(found)


def digest(module: IRModule) -> str:
    """A text that equal modules share in every process of one TVM version (checked: no address enters the hash).

    Names of variables do not count; contents of constants, names of functions and attributes do. Free variables count
    by where they first occur: otherwise their addresses would enter the hash.
    """
    return f"{T.structural_hash(module, map_free_vars=True) & 0xFFFFFFFFFFFFFFFF:016x}"


def with_functions(module: IRModule, extra: dict[str, BaseFunc]) -> IRModule:
    """The module with functions added under names that it does not use; the given module stays as it is."""
    functions = dict(module.functions.items())
    for name, function in extra.items():
        fresh = GLOBAL_VAR(name)
        T.set_type(fresh, T.type_of(function))
        functions[fresh] = function
    return T.replace_functions(module, functions)


def own_constant(constant: Expr) -> Expr:
    """A constant of the same value with memory of its own. Constants that are no tensors (dtypes), or that lie on a
    device, are returned as they are."""
    ty = T.type_of(constant)
    dtype = T.dtype_name(ty) if isinstance(ty, T.TensorType) and ty.vdevice is None else None
    return constant if dtype is None else T.constant(T.constant_array(constant), dtype)


def with_own_constants(module: IRModule, own: Callable[[Expr], Expr] = own_constant) -> IRModule:
    """The module with a copy, made by `own`, of every constant of its Relax functions: modules share their
    constants, and a run may write into them."""
    functions = {
        name: tvm_ffi.structural_map(function, [(T.Constant, own)])
        if isinstance(function, relax.Function)
        else function
        for name, function in module.functions.items()
    }
    return T.replace_functions(module, functions)
