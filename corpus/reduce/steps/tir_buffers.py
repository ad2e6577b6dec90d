"""Buffers of PrimFuncs become plain ones: without strides and offsets, in global memory, as TVMScript says them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.draft import VAR, NotApplicable
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.reduce.prim_func import verified
from corpus.reduce.realise import TVM_ERRORS
from generators import tvm_api as T
from oracles.ir.walk import nodes_of

PLAIN_SCOPES = ("", "global")


def plain(view: PlanView) -> Sequence[Edit]:
    """Each buffer becomes compact, each is in global memory, and each loses a layout that TVMScript does not say."""
    edits: list[Edit] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            for place, buffer in enumerate(_buffers(function)):
                if not _compact(T.type_of(buffer)):
                    edits.append(_instead(name, place, _made_compact))
                if str(T.type_of(buffer).storage_scope) not in PLAIN_SCOPES:
                    edits.append(_instead(name, place, _made_global))
                if _says_no_layouts(function) and T.type_of(buffer).layout is not None:
                    edits.append(_instead(name, place, _made_without_layout))
    return edits


def _says_no_layouts(function: T.PrimFunc) -> bool:
    """Whether TVMScript reads its buffers without layouts. TE and TOPI make such functions with layouts."""
    return function.attrs is not None and bool(function.attrs.get("s_tir"))


def _buffers(function: T.PrimFunc) -> list[T.Buffer]:
    """Parameters first, then those that the body makes."""
    found = {param: None for param in function.params if isinstance(T.type_of(param), tirx.BufferType)}
    found.update((buffer, None) for buffer in _made(function.body))
    return list(found)


def _made(body: T.Stmt) -> Iterator[T.Buffer]:
    for node in nodes_of(body, (s_tir.SBlock, tirx.AllocBuffer, tirx.DeclBuffer)):
        if isinstance(node, s_tir.SBlock):
            yield from node.alloc_buffers
            yield from (match.buffer for match in node.match_buffers)
        else:
            yield node.buffer


def _compact(ty: T.Type) -> bool:
    begins = ty.elem_offset is None or T.is_zero(ty.elem_offset)
    return not len(ty.strides) and begins


def _made_compact(buffer: T.Buffer) -> T.Buffer:
    ty = T.type_of(buffer)
    scope = str(ty.storage_scope)
    return tirx.decl_buffer(list(ty.shape), T.dtype_text(ty.dtype), str(buffer.name), scope=scope, layout=_layout(ty))


def _made_global(buffer: T.Buffer) -> T.Buffer:
    return _made_anew(buffer, "", _layout(T.type_of(buffer)))


def _made_without_layout(buffer: T.Buffer) -> T.Buffer:
    return _made_anew(buffer, str(T.type_of(buffer).storage_scope), None)


def _made_anew(buffer: T.Buffer, scope: str, layout: str | None) -> T.Buffer:
    """The buffer with another scope and layout."""
    ty = T.type_of(buffer)
    return tirx.decl_buffer(
        list(ty.shape),
        T.dtype_text(ty.dtype),
        str(buffer.name),
        strides=list(ty.strides),
        elem_offset=ty.elem_offset,
        scope=scope,
        data_alignment=int(ty.data_alignment),
        offset_factor=int(ty.offset_factor),
        layout=layout,
    )


def _layout(ty: T.Type) -> str | None:
    """What `decl_buffer` takes for a row-major layout; None where there was none."""
    return None if ty.layout is None else "default"


def _instead(name: str, place: int, made: Callable[[T.Buffer], T.Buffer]) -> Edit:
    """Another buffer at this place among those of a function."""

    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, tirx.PrimFunc) or place >= len(_buffers(function)) or plan.draft.nodes:
            raise NotApplicable("gone")
        buffer = _buffers(function)[place]
        try:
            new = made(buffer)
            swapped = tvm_ffi.structural_map(function, [(VAR, lambda var: new if var.same_as(buffer) else var)])
            whole = verified(T.prim_func(T.parameters_of(swapped), swapped.body, swapped.ret_type, swapped.attrs))
        except TVM_ERRORS as error:
            raise NotApplicable(f"not well-formed: {error}") from error
        return replace(plan, draft=plan.draft.with_function(name, whole))

    return edit
