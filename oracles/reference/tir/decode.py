"""From TVM's PrimFunc objects to the nodes of `nodes.py`: the only file of the TIR interpreter that reads TVM
attributes.

Dispatch is by class name, so nothing of TVM is imported here. Shape variables and integer parameters are
replaced by their values, block variables by their bindings, loops of extent one by their only iteration.
Constructs that the interpreter does not know raise `Unsupported` with their name. Expressions are in
`decode_exprs.py`, definitions of buffers in `decode_buffers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import settled
from oracles.reference.tir.decode_buffers import BufferDecoder
from oracles.reference.tir.decode_exprs import fold, is_index, lanes_of
from oracles.reference.tir.decode_headers import HeaderDecoder
from oracles.reference.tir.decode_packed import HOST_STATEMENTS
from oracles.reference.tir.decode_pointers import EMPTY, POINTER_TYPE, RESULT, Arguments, Stack
from oracles.reference.tir.decode_threads import (
    THREAD_ATTRIBUTES,
    UNROLLED,
    UnknownThreads,
    is_function_call,
)
from oracles.reference.tir.nodes import (
    DTYPES,
    Alloc,
    Assert,
    Bind,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    Function,
    If,
    Jump,
    Seq,
    Stmt,
    Store,
    Var,
    While,
)

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread")
REDUCTION = 2  # IterVar.CommReduce

SILENT_ATTRIBUTES = (
    "hand_threaded",
    "storage_alignment",
    "device_id",
    "device_type",
    "device_scope",
    "compute_scope",
    "double_buffer_scope",
    "double_buffer_write",
    "async_scope",
    "async_commit_queue_scope",
    "async_wait_queue_scope",
    "async_wait_inflight_count",
)
"""What tells passes and the code generator something that changes no value: where code runs, how memory is laid out,
and what may still be under way (statements are read in order, as if it were not)."""


class Decoder(HeaderDecoder, BufferDecoder):
    """Decodes one PrimFunc for one binding of its symbols (`symbols`: object address of the variable ->
    value).
    """

    def function(self, func: Any, params: tuple[Buffer | Var | None, ...], handles: list[int]) -> Function:
        """`params` and `handles` are the decoded parameters and the addresses of TVM's parameter objects, in
        order.
        """
        for param, handle in zip(params, handles, strict=True):
            if isinstance(param, Buffer):
                self.buffers[handle] = (param, None)
            elif param is not None:
                self.env[handle] = param
        self.slots = len(params)
        for tvm_param, param in zip(items(func.params), params, strict=True):
            if isinstance(param, Buffer):
                self._layout(tvm_param.ty, param.shape)
        return self._whole(func, params)

    def _layout(self, ty: Any, shape: tuple[int, ...]) -> None:
        """Arguments begin at their data pointer and are compact: what the variables for that are."""
        variables = [] if ty.elem_offset is None else [(ty.elem_offset, 0)]
        stride = 1
        for var, extent in zip(reversed(items(ty.strides or [])), reversed(shape), strict=False):
            variables.append((var, stride))
            stride *= extent
        for var, value in variables:
            if type(var).__name__ == "Var":
                self.env[var.__chandle__()] = Const(value, self.dtype(var.ty))

    def packed_function(self, func: Any, described: tuple[Any, ...]) -> Function:
        """A function after MakePackedAPI, which has its parameters from `arguments`, as `described`."""
        _, args, count, result = func.params
        self.pointers[args.__chandle__()] = Arguments()
        self.pointers[result.__chandle__()] = self.returned = Stack(RESULT)
        self.env[count.__chandle__()] = Const(len(self.arguments), DTYPES["int32"])
        params: list[Buffer | Var | None] = []
        for argument in self.arguments:
            params.append(argument.value if isinstance(argument.value, Var) else argument.buffer)
        self.slots = len(params)
        self.begin_header(described, func.params[:])
        return self._whole(func, tuple(params))

    def _whole(self, func: Any, params: tuple[Buffer | Var | None, ...]) -> Function:
        body = self.stmt(func.body)
        blanks = self.blank_buffers()
        if blanks:
            body = Seq((*blanks, body))
        viewed = frozenset(buffer.memory for buffer in self.views.values())
        noalias = "tirx.noalias" in func.attrs
        return Function(
            self.name,
            params,
            body,
            noalias,
            viewed,
            launches=frozenset(self.launches),
            calls=frozenset(self.calls),
            units=self.units(),
            result=self.result,
        )

    def stmt(self, node: Any) -> Stmt:
        """Any statement."""
        name = type(node).__name__
        method = STATEMENTS.get(name)
        if method is None:
            raise Unsupported(f"tirx.{name}")
        return method(self, node) if self.place is None else self.in_header(node, name, method)

    def _inner(self, node: Any) -> Stmt:
        """A statement that may run never or several times."""
        returns = self.returns
        body = self.stmt(node)
        if self.returns != returns:
            raise Unsupported("tirx.Return[nested]")
        self.ended = False
        return body

    def _turn(self, node: Any) -> Stmt:
        """The body of a loop."""
        self.loops += 1
        try:
            return self._inner(node)
        finally:
            self.loops -= 1

    def _seq(self, node: Any) -> Stmt:
        body: list[Stmt] = []
        for child in items(node.seq):
            body.append(self.stmt(child))
            if self.ended:
                break
        return Seq(tuple(body))

    def _store(self, node: Any) -> Stmt:
        if node.buffer.__chandle__() in self.stacks:
            return self.stack_store(node)
        lanes = lanes_of(node.value.ty)
        if lanes > 1:
            return _single(self.store_lanes(node, lanes))
        target, indices = self.access(node.buffer, node.indices)
        return Store(target, self.expr(node.value), indices)

    def _bind(self, node: Any) -> Stmt:
        if is_function_call(node.value):
            body, value = self.called(node.value)
            if value is None:
                raise Trap("type", f"{self.name}: {node.var.name} is bound to what returns nothing")
            before, self.env[node.var.__chandle__()] = self.named(node.var, value)
            return Seq((body, *before))
        if type(node.var.ty).__name__ == POINTER_TYPE:
            self.pointers[node.var.__chandle__()] = self.pointer(node.value)
            return EMPTY
        lanes = lanes_of(node.value.ty)
        if lanes > 1:
            return self.bind_lanes(node, lanes)
        before, value = self.named(node.var, settled(self.expr(node.value)))
        self.env[node.var.__chandle__()] = value
        return before[0] if before else EMPTY

    def _for(self, node: Any) -> Stmt:
        kind = LOOP_KINDS[int(node.kind)]
        thread = node.thread_binding.thread_tag if node.thread_binding is not None else ""
        before, low = self.named(node.loop_var, self.expr(node.min))
        extent = settled(self.expr(node.extent))
        handle = node.loop_var.__chandle__()
        step = 1 if node.step is None else self.constant(node.step, "For.step")
        if step != 1:
            extent = Const(-(-self.constant(node.extent, "For.extent[step]") // step), low.dtype)
        if isinstance(extent, Const):
            if extent.value <= 0:
                return EMPTY
            if extent.value == 1 and not thread:
                self.env[handle] = low
                return Seq((*before, self._once(node, kind)))
        elif thread:
            raise UnknownThreads(thread)
        var = self.fresh(node.loop_var, low.dtype)
        self.env[handle] = fold("add", low, fold("mul", var, Const(step, low.dtype), low.dtype), low.dtype)
        try:
            body = self._turn(node.body)
        except UnknownThreads:
            return Seq((*before, *self._turns(node, low, step, extent)))
        loop = For(var, extent, kind, thread, body)
        return Seq((*before, loop)) if before else loop

    def _turns(self, node: Any, low: Expr, step: int, extent: Expr) -> Iterator[Stmt]:
        """The iterations of a loop one by one: each knows how many threads the kernels in it have."""
        if not isinstance(extent, Const) or extent.value > UNROLLED:
            raise UnknownThreads("threads")
        jumps = self.jumps
        for turn in range(extent.value):
            self.env[node.loop_var.__chandle__()] = fold("add", low, Const(turn * step, low.dtype), low.dtype)
            yield self._turn(node.body)
        if self.jumps != jumps:
            raise Unsupported("tirx.For[jump between launches]")

    def _once(self, node: Any, kind: str) -> Stmt:
        """The body of a loop with one iteration; still a loop if something in it jumps."""
        jumps = self.jumps
        self.loops += 1
        body = self.stmt(node.body)
        self.loops -= 1
        if self.jumps == jumps:
            return body
        low = self.expr(node.min)
        return For(self.fresh(node.loop_var, low.dtype), Const(1, low.dtype), kind, "", body)

    def _jump(self, kind: str) -> Stmt:
        if not self.loops:
            raise Trap("type", f"{self.name}: {kind} outside of a loop")
        self.jumps += 1
        return Jump(kind)

    def named(self, tvm_var: Any, value: Expr) -> tuple[tuple[Stmt, ...], Expr]:
        """`value` itself if it may be evaluated at any later point with the same result, else a variable
        bound to it here.
        """
        if is_index(value):
            return (), value
        var = self.fresh(tvm_var, value.dtype)
        return (Bind(var, value),), var

    def _while(self, node: Any) -> Stmt:
        return While(self.expr(node.condition), self._turn(node.body))

    def _if(self, node: Any) -> Stmt:
        cond = self.expr(node.condition)
        if isinstance(cond, Const):
            taken = node.then_case if cond.value else node.else_case
            return EMPTY if taken is None else self.stmt(taken)
        other = None if node.else_case is None else self._inner(node.else_case)
        return If(cond, self._inner(node.then_case), other)

    def _block(self, node: Any) -> Stmt:
        block = node.block
        before: list[Stmt] = []
        reduce: list[tuple[Expr, Expr]] = []
        for iter_var, value in zip(items(block.iter_vars), items(node.iter_values), strict=True):
            bound, binding = self.named(iter_var.var, self.expr(value))
            before.extend(bound)
            self.env[iter_var.var.__chandle__()] = binding
            if iter_var.iter_type == REDUCTION:
                reduce.append((binding, self.expr(iter_var.dom.min)))
        predicate = self.expr(node.predicate)
        if isinstance(predicate, Const) and not predicate.value:
            return EMPTY
        allocs = tuple(self.new_buffer(buffer) for buffer in items(block.alloc_buffers))
        for match in items(block.match_buffers):
            self.match(match)
        init = None if block.init is None else self.stmt(block.init)
        where = None if isinstance(predicate, Const) else predicate
        realized = Block(str(block.name_hint), where, tuple(reduce), init, allocs, self.stmt(block.body))
        return Seq((*before, realized)) if before else realized

    def _alloc(self, node: Any) -> Stmt:
        return Alloc(self.new_buffer(node.buffer))

    def _attr(self, node: Any) -> Stmt:
        key = str(node.attr_key)
        if key in THREAD_ATTRIBUTES:
            return self.launched(node)
        if key == "reduce_scope":
            return self.reducing(node)
        if not key.startswith("pragma_") and key not in SILENT_ATTRIBUTES:
            raise Unsupported(f"tirx.AttrStmt[{key}]")
        return self.stmt(node.body)

    def _evaluate(self, node: Any) -> Stmt:
        value = node.value
        if is_function_call(value):
            return self.called(value)[0]
        if type(value).__name__ == "Call":
            name = self.op_name(value)
            if name in HOST_STATEMENTS:
                return self.host_statement(name, value)
            rule = EFFECTS.get(name)
            if rule is not None:
                return rule(self, value)
            statement = self.thread_statement(name, value)
            if statement is None:
                raise Unsupported(f"tirx.{name}")
            return statement
        self.expr(value)
        return EMPTY

    def _assert(self, node: Any) -> Stmt:
        condition = self.expr(node.condition)
        if isinstance(condition, Const) and condition.value:
            return EMPTY
        self.ended = isinstance(condition, Const)
        return Assert(condition, "".join(str(part.value) for part in items(node.message_parts)))

    def _return(self, node: Any) -> Stmt:
        """The end of the function, and the number that it returns; a packed function says that all went well."""
        value = self.expr(node.value)
        self.returns += 1
        self.ended = True
        if self.returned is None:
            var = self.new_var("result", value.dtype)
            self.result = var
            return Bind(var, value)
        if not isinstance(value, Const) or value.value != 0:
            raise Unsupported("tirx.Return[error]")
        self.result = self.returned_number()
        return EMPTY


def _single(stmt: Stmt) -> Stmt:
    """What one statement of TVM's became."""
    return Seq(stmt.body, True) if isinstance(stmt, Seq) else stmt


_NO_EFFECT = (
    *("tvm_access_ptr", "address_of", "prefetch", "print_buffer"),
    *("start_profile_intrinsic", "end_profile_intrinsic"),
)
EFFECTS: dict[str, Callable[[Decoder, Any], Stmt]] = {
    **{name: lambda self, call: EMPTY for name in _NO_EFFECT},
    "break_loop": lambda self, _call: self._jump("break"),
    "continue_loop": lambda self, _call: self._jump("continue"),
    "masked_store": lambda self, call: _single(self.masked_store(call)),
    "assume": lambda self, call: Assert(self.expr(call.args[0]), "assume"),
}
STATEMENTS: dict[str, Callable[[Decoder, Any], Stmt]] = {
    "SeqStmt": Decoder._seq,
    "BufferStore": Decoder._store,
    "Bind": Decoder._bind,
    "For": Decoder._for,
    "While": Decoder._while,
    "IfThenElse": Decoder._if,
    "SBlockRealize": Decoder._block,
    "AllocBuffer": Decoder._alloc,
    "DeclBuffer": Decoder.declare,
    "AttrStmt": Decoder._attr,
    "Evaluate": Decoder._evaluate,
    "AssertStmt": Decoder._assert,
    "Return": Decoder._return,
    "Break": lambda self, _node: self._jump("break"),
    "Continue": lambda self, _node: self._jump("continue"),
}
