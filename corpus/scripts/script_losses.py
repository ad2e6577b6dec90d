"""What TVM's printer has no text for, like the type of the result of an `if`, said in a line after the class.

Nothing here is trusted: `corpus.scripts.module_text` keeps a script only where it parses back to a structurally equal
module. What neither these lines nor `corpus.scripts.rewrites` can say is left to JSON: types of variables that name
other variables, and functions that share their parameters, among others. Worker processes only, but for `split` and
`with_helper`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from corpus.frames import FRAMES

if TYPE_CHECKING:
    from generators.tvm_api import BaseFunc, Buffer, IRModule, Node, Type, Var

# --- lines after the class ----------------------------------------------------------------------------------------

HELPERS = ("retyped", "laid_out", "ranged")
"""Functions that scripts with such lines need besides: templates of `corpus.frames`."""


def _source(helper: str) -> str:
    return FRAMES.get_template(f"{helper}.py.j2").render()


def split(script: str) -> tuple[str, list[str]]:
    """The class, and the lines after it that say what a script cannot."""
    lines = script.rstrip("\n").split("\n")
    count = 0
    while count < len(lines) and lines[-1 - count].startswith("Module["):
        count += 1
    return "\n".join(lines[: len(lines) - count]).rstrip("\n") + "\n", lines[len(lines) - count :]


def with_helper(script: str) -> str:
    """The script as plain Python runs it: with the helpers that its last lines call."""
    code, lines = split(script)
    helpers = [_source(name) for name in HELPERS if any(f"{name}(" in line for line in lines)]
    return "\n\n".join([code, *helpers, "\n".join(lines) + "\n"]) if helpers else script


def lines_for(module: IRModule, parsed: IRModule) -> list[str]:
    """Lines that are to make `module` of what its script parses to: types of variables, and functions that share
    their parameters."""
    lines: list[str] = []
    functions: dict[str, BaseFunc] = {}
    for name, function in sorted((variable.name_hint, function) for variable, function in module.functions.items()):
        twin = next((earlier for earlier, other in functions.items() if _shares_parameters(function, other)), None)
        functions[name] = function
        if twin is not None:
            lines.append(f'Module["{name}"] = Module["{twin}"]')
        elif types := _other_types(function, parsed[name]):
            lines.append(f'Module["{name}"] = retyped(Module["{name}"], {types})')
        else:
            if buffers := _row_major(function, parsed[name]):
                lines.append(f'Module["{name}"] = laid_out(Module["{name}"], {", ".join(buffers)})')
            if dtype := _dtype_of_ranges(function, parsed[name]):
                lines.append(f'Module["{name}"] = ranged(Module["{name}"], "{dtype}")')
    return lines


def _shares_parameters(function: BaseFunc, other: BaseFunc) -> bool:
    """Whether two functions are equal and have the same variables as parameters, which a script cannot say."""
    from generators import tvm_api

    same = bool(function.params) and bool(other.params) and function.params[0].same_as(other.params[0])
    return same and bool(tvm_api.structural_equal(function, other))


def _other_types(wanted: BaseFunc, parsed: BaseFunc) -> str:
    """The variables of a Relax function that have another type once it is parsed, as keyword arguments."""
    from tvm import relax

    from generators import tvm_api

    if not (isinstance(wanted, tvm_api.RelaxFunction) and isinstance(parsed, tvm_api.RelaxFunction)):
        return ""
    texts = {}
    for variable, there in zip(relax.analysis.bound_vars(wanted), relax.analysis.bound_vars(parsed), strict=False):
        ty = tvm_api.type_of(variable)
        text = None if tvm_api.structural_equal(ty, tvm_api.type_of(there)) else _type_text(ty)
        if text is not None:
            texts[there.name] = text
    return ", ".join(f"{name}={text}" for name, text in texts.items() if name.isidentifier())


def _row_major(wanted: BaseFunc, parsed: BaseFunc) -> list[str]:
    """The names of the buffers of a PrimFunc that have a layout, and none once it is parsed. TE and TOPI make such."""
    pairs = zip(_buffers(wanted), _buffers(parsed), strict=False)
    return [f'"{there.name}"' for made, there in pairs if made.ty.layout is not None and there.ty.layout is None]


def _dtype_of_ranges(wanted: BaseFunc, parsed: BaseFunc) -> str:
    """The dtype of all constants in the ranges of a PrimFunc, where they have others once it is parsed; else ""."""
    dtypes, there = _constants_of_ranges(wanted), _constants_of_ranges(parsed)
    return dtypes[0] if len(set(dtypes)) == 1 and len(dtypes) == len(there) and dtypes != there else ""


def _constants_of_ranges(function: BaseFunc) -> list[str]:
    from tvm import ir, tirx
    from tvm_ffi import structural_walk

    ranges: list[Node] = []
    if isinstance(function, tirx.PrimFunc):
        structural_walk(function, (ir.Range, ranges.append), order="pre")
    parts = [part for one in ranges for part in (one.min, one.extent)]
    return [str(part.ty.dtype) for part in parts if isinstance(part, tirx.IntImm)]


def _buffers(function: BaseFunc) -> list[Buffer]:
    """The buffers of a PrimFunc in the order in which they are met."""
    from tvm import tirx
    from tvm_ffi import structural_walk

    met: list[Var] = []
    if isinstance(function, tirx.PrimFunc):
        structural_walk(function, (tirx.Var, met.append), order="pre")
    return list({hash(var): var for var in met if isinstance(var.ty, tirx.BufferType)}.values())


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
        case [ast.Assign(targets=[place], value=ast.Call(func=ast.Name(id=helper), args=[given, *names]) as call)]:
            types = {keyword.arg or "": _made(keyword.value) for keyword in call.keywords}
            function = module[_function_name(given)]
            module[_function_name(place)] = _helper(helper)(function, *map(ast.literal_eval, names), **types)
        case _:
            raise ValueError(f"not a line after a module: {line}")


@functools.cache
def _helper(name: str) -> Callable[..., BaseFunc]:
    """A function of HELPERS. Raises ValueError for another name."""
    import tvm
    import tvm_ffi

    if name not in HELPERS:
        raise ValueError(f"not a helper: {name}")
    names: dict[str, Any] = {"tvm": tvm, "tvm_ffi": tvm_ffi}
    exec(_source(name), names)
    helper: Callable[..., BaseFunc] = names[name]
    return helper


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
