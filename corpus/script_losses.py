"""What TVM's printer loses, written into the script by hand, so that it parses back to the same module.

Two kinds of loss. Some lines parse to something else than what was printed, and can be written in another way:
REWRITES. Some facts have no place in a script, like the type of the result of an `if`: a line after the class sets
them, see `lines_for`. Nothing here is trusted: `corpus.module_text` keeps a script only where it parses back to a
structurally equal module. What neither can say is left to JSON: layouts of buffers with symbolic extents, and shapes of
tensors that are variables, among others. Worker processes only, but for `split` and `with_helper`.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generators.tvm_api import BaseFunc, IRModule, RelaxFunction, Type

# --- text that parses to something else ---------------------------------------------------------------------------


_BARE_TYPE = re.compile(r"\bT\.((?:u?int|float|bfloat)\d+\w*|bool)(?=[,)\]])")
_FOLDED = re.compile(r"\bT\.(min|max|truncmod)\(")
_UNFOLDED = {"min": "Min", "max": "Max", "truncmod": "Mod"}


def _scalar_types(script: str) -> str:
    """Scalars in the types of Relax are printed as `T.int64`, which is a value there and no type."""
    lines = script.split("\n")
    return "\n".join(_BARE_TYPE.sub(r'R.Prim("\1")', line) if "R." in line else line for line in lines)


def _unfolded(script: str) -> str:
    """`T.min(1, 2)` is computed when it is parsed; `T.Min(1, 2)` is not."""
    return _FOLDED.sub(lambda found: f"T.{_UNFOLDED[found[1]]}(", script)


def _ill_formed(script: str) -> str:
    """A module that TVM's checkers refuse is parsed where the script says that it is not to be checked."""
    return script.replace("@I.ir_module\n", f"@I.ir_module({UNCHECKED})\n")


UNCHECKED = "check_well_formed=False"
REWRITES: tuple[Callable[[str], str], ...] = (_scalar_types, _unfolded, _ill_formed)
"""In the order to try; each is added to those before it."""


# --- lines after the class ----------------------------------------------------------------------------------------


RETYPED = '''\
def retyped(function, **types):
    """The function with other types of these variables. TVMScript cannot say the type of what an `if` gives."""
    variables = {name: tvm.relax.Var(name, ty.as_ty()) for name, ty in types.items()}
    renewed = [
        (tvm.relax.Var, lambda variable: variables.get(variable.name, variable)),
        (tvm.relax.Tuple, lambda made: tvm.relax.Tuple(made.fields)),
    ]
    body = tvm_ffi.structural_map(function.body, renewed)
    body = tvm.relax.SeqExpr(body.blocks, body.body)
    tvm.relax.expr._update_type(body, body.body.ty)
    return tvm.relax.Function(function.params, body, body.ty, function.is_pure, function.attrs)
'''
"""What a script with such a line needs besides."""


def split(script: str) -> tuple[str, list[str]]:
    """The class, and the lines after it that say what a script cannot."""
    lines = script.rstrip("\n").split("\n")
    count = 0
    while count < len(lines) and lines[-1 - count].startswith("Module["):
        count += 1
    return "\n".join(lines[: len(lines) - count]).rstrip("\n") + "\n", lines[len(lines) - count :]


def with_helper(script: str) -> str:
    """The script as plain Python runs it: with the helper that its last lines call."""
    code, lines = split(script)
    return "\n\n".join([code, RETYPED, "\n".join(lines) + "\n"]) if any("retyped(" in x for x in lines) else script


def lines_for(module: IRModule, parsed: IRModule) -> list[str]:
    """Lines that are to make `module` of what its script parses to: types of variables, and functions that share
    their parameters."""
    lines: list[str] = []
    functions: dict[str, Any] = {}
    for name, function in sorted((variable.name_hint, function) for variable, function in module.functions.items()):
        twin = next((earlier for earlier, other in functions.items() if _shares_parameters(function, other)), None)
        functions[name] = function
        if twin is not None:
            lines.append(f'Module["{name}"] = Module["{twin}"]')
        elif types := _other_types(function, parsed[name]):
            lines.append(f'Module["{name}"] = retyped(Module["{name}"], {types})')
    return lines


def _shares_parameters(function: BaseFunc, other: BaseFunc) -> bool:
    """Whether two functions are equal and have the same variables as parameters, which a script cannot say."""
    from generators import tvm_api

    same = bool(function.params) and bool(other.params) and function.params[0].same_as(other.params[0])
    return same and bool(tvm_api.structural_equal(function, other))


def _other_types(wanted: BaseFunc, parsed: BaseFunc) -> str:
    """The variables of a Relax function that have another type once it is parsed, as keyword arguments."""
    from generators import tvm_api

    if not (isinstance(wanted, tvm_api.RelaxFunction) and isinstance(parsed, tvm_api.RelaxFunction)):
        return ""
    there = _types_of(parsed)
    texts = {}
    for name, ty in _types_of(wanted).items():
        text = _type_text(ty)
        if name in there and text is not None and not tvm_api.structural_equal(ty, there[name]):
            texts[name] = text
    return ", ".join(f"{name}={text}" for name, text in texts.items() if name.isidentifier())


def _types_of(function: RelaxFunction) -> dict[str, Type]:
    """The types of the variables that a function binds, by name."""
    from tvm import relax

    from generators import tvm_api

    return {variable.name: tvm_api.type_of(variable) for variable in relax.analysis.bound_vars(function)}


def _type_text(ty: Type) -> str | None:
    """The source of a type that names no variable; None for any other."""
    from generators import tvm_api

    text = str(ty)
    try:
        return text if tvm_api.structural_equal(ty, _made(ast.parse(text, mode="eval").body).as_ty()) else None
    except (SyntaxError, ValueError, TypeError, AttributeError):
        return None


def apply(module: IRModule, line: str) -> None:
    """Does what a line says. Raises ValueError for a line that `lines_for` does not write: nothing else is run."""
    match ast.parse(line).body:
        case [ast.Assign(targets=[place], value=ast.Subscript() as twin)]:
            module[_function_name(place)] = module[_function_name(twin)]
        case [ast.Assign(targets=[place], value=ast.Call(func=ast.Name(id="retyped"), args=[given]) as call)]:
            types = {keyword.arg or "": _made(keyword.value) for keyword in call.keywords}
            module[_function_name(place)] = _retyped(module[_function_name(given)], types)
        case _:
            raise ValueError(f"not a line after a module: {line}")


@functools.cache
def _helper() -> Callable[..., RelaxFunction]:
    """The function that RETYPED defines."""
    import tvm
    import tvm_ffi

    names: dict[str, Any] = {"tvm": tvm, "tvm_ffi": tvm_ffi}
    exec(RETYPED, names)
    helper: Callable[..., RelaxFunction] = names["retyped"]
    return helper


def _retyped(function: RelaxFunction, types: dict[str, Any]) -> RelaxFunction:
    return _helper()(function, **types)


def _function_name(place: ast.expr) -> str:
    match place:
        case ast.Subscript(value=ast.Name(id="Module"), slice=ast.Constant(value=str(name))):
            return name
        case _:
            raise ValueError(f"not a function of the module: {ast.unparse(place)}")


_TYPES = ("Tensor", "Tuple", "Shape", "Prim", "Object", "Any")


def _made(source: ast.expr) -> Any:
    """What a constructor of R with literal arguments makes; its `as_ty` gives the type."""
    from tvm.script import relax as R

    match source:
        case ast.Attribute(value=ast.Name(id="R"), attr=name) if name in _TYPES:
            made = getattr(R, name)()
        case ast.Call(func=ast.Attribute(value=ast.Name(id="R"), attr=name)) if name in _TYPES:
            arguments = [_argument(argument) for argument in source.args]
            named = {keyword.arg or "": _argument(keyword.value) for keyword in source.keywords}
            made = getattr(R, name)(*arguments, **named)
        case _:
            raise ValueError(f"not a type without variables: {ast.unparse(source)}")
    return made


def _argument(source: ast.expr) -> Any:
    calls = any(isinstance(node, (ast.Call, ast.Attribute)) for node in ast.walk(source))
    return _made(source) if calls else ast.literal_eval(source)


def scripts(script: str) -> Iterator[str]:
    """The script with one rewriting after another, each once it changes something."""
    for rewrite in REWRITES:
        changed = rewrite(script)
        if changed != script:
            script = changed
            yield script
