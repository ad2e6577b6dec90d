"""What the programs of each recipe hold, as predicates by the name of the recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tvm import relax

from generators import tvm_api
from generators.program import Program


def bindings_of(program: Program) -> list[Any]:
    """Every binding of every Relax function, those of branches and local functions too."""
    found: list[Any] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.SeqExpr):
            found.extend(binding for block in expr.blocks for binding in block.bindings)

    for function in program.module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return found


def values_of(program: Program) -> list[Any]:
    return [binding.value for binding in bindings_of(program)]


def operators(program: Program) -> Counter[str]:
    return Counter(name for value in values_of(program) if (name := tvm_api.op_name(value)))


def feeds(first: str, second: str) -> Callable[[Program], bool]:
    """Some `second` has the result of a `first` as an operand, itself or within a tuple."""

    def holds(program: Program) -> bool:
        made = {b.var: tvm_api.op_name(b.value) for b in bindings_of(program)}
        for value in values_of(program):
            if tvm_api.op_name(value) == second:
                leaves = [f for a in value.args for f in (a.fields if isinstance(a, relax.Tuple) else [a])]
                if any(made.get(leaf) == first for leaf in leaves if isinstance(leaf, relax.Var)):
                    return True
        return False

    return holds


def has(name: str, count: int = 1) -> Callable[[Program], bool]:
    return lambda program: operators(program)[name] >= count


def any_of(*predicates: Callable[[Program], bool]) -> Callable[[Program], bool]:
    return lambda program: any(predicate(program) for predicate in predicates)


def main_of(program: Program) -> Any:
    return program.module["main"]


def attribute(name: str) -> Callable[[Program], bool]:
    return lambda program: any(f.attrs and name in f.attrs for f in program.module.functions.values())


def binds(kind: Any) -> Callable[[Program], bool]:
    return lambda program: any(isinstance(value, kind) for value in values_of(program))


def alias(program: Program) -> bool:
    return any(isinstance(value, relax.Var) for value in values_of(program))


def match_cast(program: Program) -> bool:
    return any(isinstance(binding, relax.MatchCast) for binding in bindings_of(program))


def calls_to_functions(count: int) -> Callable[[Program], bool]:
    def holds(program: Program) -> bool:
        calls = [v for v in values_of(program) if isinstance(v, tvm_api.Call)]
        return sum(isinstance(call.op, (relax.GlobalVar, relax.Var)) for call in calls) >= count

    return holds


def calls_external_function(program: Program) -> bool:
    return any(isinstance(v, tvm_api.Call) and isinstance(v.op, relax.ExternFunc) for v in values_of(program))


EFFECT = any_of(has("relax.print"), has("relax.assert_op"), calls_external_function)


def effect_in_branches_alone(program: Program) -> bool:
    """Some private function is impure, and no binding outside of its branches is."""

    def pure(value: Any) -> bool:
        if not isinstance(value, tvm_api.Call):
            return True
        if isinstance(value.op, relax.GlobalVar):
            return bool(tvm_api.type_of(value.op).purity)
        return tvm_api.op_name(value) not in ("relax.print", "relax.assert_op") and not isinstance(
            value.op, relax.ExternFunc
        )

    return any(
        not f.is_pure and all(pure(binding.value) for block in f.body.blocks for binding in block.bindings)
        for f in private_functions(program)
    )


def local_named_like_a_parameter(program: Program) -> bool:
    """Some private function returns a variable that is no parameter and has the name of one."""

    def results(function: Any) -> list[Any]:
        bound = {b.var: b.value for block in function.body.blocks for b in block.bindings}
        result = bound.get(function.body.body, function.body.body)
        return list(result.fields) if isinstance(result, relax.Tuple) else [function.body.body]

    return any(
        not any(result.same_as(p) for p in f.params) and result.name in {p.name for p in f.params}
        for f in private_functions(program)
        for result in results(f)
        if isinstance(result, relax.Var)
    )


def one_function_of_several_shapes(program: Program) -> bool:
    calls = [v for v in values_of(program) if isinstance(v, tvm_api.Call) and isinstance(v.op, relax.GlobalVar)]
    seen = {(call.op.name_hint, str([tvm_api.type_of(argument) for argument in call.args])) for call in calls}
    return len(seen) > len({name for name, _ in seen})


def private_functions(program: Program) -> list[Any]:
    functions = [f for f in program.module.functions.values() if isinstance(f, relax.Function)]
    return [f for f in functions if not (f.attrs and "global_symbol" in f.attrs)]


def two_of_one_type(program: Program) -> bool:
    types = [str(tvm_api.type_of(function)) for function in private_functions(program)]
    return len(set(types)) < len(types)


def one_operator_of_two_shapes(program: Program) -> bool:
    made = [v for v in values_of(program) if tvm_api.op_name(v) in ("relax.full", "relax.broadcast_to")]
    return len({str(tvm_api.type_of(value)) for value in made}) > 1


def used_variables(function: Any) -> set[Any]:
    used: set[Any] = set()
    relax.analysis.post_order_visit(function.body, lambda e: used.add(e) if isinstance(e, relax.Var) else None)
    return used


def unused_parameter(program: Program) -> bool:
    return any(set(f.params) - used_variables(f) for f in private_functions(program))


def tuple_parameter(program: Program) -> bool:
    return any(isinstance(p.ty, tvm_api.TupleType) for f in private_functions(program) for p in f.params)


def tuple_result(program: Program) -> bool:
    return any(isinstance(tvm_api.return_type(f), tvm_api.TupleType) for f in private_functions(program))


def symbolic(program: Program) -> bool:
    return bool(program.facts.symbols)


def duplicate_call(program: Program) -> bool:
    """Two calls that differ in their attributes or results only: the same operator and operands."""
    seen: list[Any] = []
    for value in values_of(program):
        if tvm_api.op_name(value):
            if any(other.op.same_as(value.op) and same_operands(other, value) for other in seen):
                return True
            seen.append(value)
    return False


def same_operands(one: Any, two: Any) -> bool:
    return len(one.args) == len(two.args) and all(a.same_as(b) for a, b in zip(one.args, two.args, strict=True))


def weight_is_transformed(program: Program) -> bool:
    """A call all of whose operands are parameters after num_input."""
    number = program.facts.num_input
    weights = set(main_of(program).params[number:]) if number is not None else set()
    calls = [value for value in values_of(program) if tvm_api.op_name(value)]
    leaves = [[f for a in c.args for f in (a.fields if isinstance(a, relax.Tuple) else [a])] for c in calls]
    return any(operands and any(o in weights for o in operands) for operands in leaves)


def one_scalar_loss(program: Program) -> bool:
    body = main_of(program).body
    result = body.body.fields[program.facts.loss] if isinstance(body.body, relax.Tuple) else body.body
    return len(body.blocks) == 1 and isinstance(body.blocks[0], relax.DataflowBlock) and len(result.ty.shape) == 0


def two_public_with_inputs(program: Program) -> bool:
    functions = program.module.functions.values()
    return sum("num_input" in f.attrs for f in functions if f.attrs and "global_symbol" in f.attrs) >= 2


def many_results(program: Program) -> bool:
    return isinstance(tvm_api.return_type(main_of(program)), tvm_api.TupleType)


def nested_tuple(program: Program) -> bool:
    return any(
        isinstance(b.var.ty, tvm_api.TupleType) and any(isinstance(f, tvm_api.TupleType) for f in b.var.ty.fields)
        for b in bindings_of(program)
    )


def constant_call(program: Program) -> bool:
    """A call of constants alone."""
    calls = [v for v in values_of(program) if tvm_api.op_name(v)]
    return any(call.args and all(isinstance(a, tvm_api.Constant) for a in call.args) for call in calls)


def constant_operand(program: Program) -> bool:
    return any(isinstance(a, tvm_api.Constant) for v in values_of(program) if tvm_api.op_name(v) for a in v.args)


def prim_value(program: Program) -> bool:
    return any(isinstance(b.var.ty, tvm_api.PrimType) for b in bindings_of(program))


def prim_condition(program: Program) -> bool:
    return any(not isinstance(v.cond, relax.Var) for v in values_of(program) if isinstance(v, relax.If))


def kernels(count: int) -> Callable[[Program], bool]:
    return lambda program: sum(operators(program).values()) >= count


def scalar_argument(program: Program) -> bool:
    """A call_tir that is given a number besides tensors."""
    calls = [value for value in values_of(program) if tvm_api.op_name(value) == "relax.call_tir"]
    return any(isinstance(f.ty, tvm_api.PrimType) for call in calls for f in call.args[1].fields)


def recursive(program: Program) -> bool:
    """A private function from which calls lead back to it."""
    return bool(relax.analysis.detect_recursion(program.module))


MATMUL, PERMUTE = "relax.matmul", "relax.permute_dims"
PREDICATES: dict[str, Callable[[Program], bool]] = {
    "matmul_chain": feeds(MATMUL, MATMUL),
    "matmul_of_permuted_product": feeds(PERMUTE, MATMUL),
    "matmul_of_sum": any_of(feeds("relax.add", MATMUL), feeds(PERMUTE, MATMUL)),
    "parallel_matmuls": has(MATMUL, 2),
    "parallel_matmuls_with_bias": has(MATMUL, 2),
    "matmul_of_take": feeds("relax.take", MATMUL),
    "concat_of_permutes": feeds(PERMUTE, "relax.concat"),
    "transpose_matmul": feeds(PERMUTE, MATMUL),
    "matmul_bias_relu": feeds("relax.add", "relax.nn.relu"),
    "permute_chain": feeds(PERMUTE, PERMUTE),
    "take_out_of_range": has("relax.take", 2),
    "conv2d_chain": has("relax.nn.conv2d"),
    "conv2d_between_layout_agnostic": has("relax.nn.conv2d"),
    "conv2d_batch_norm": feeds("relax.nn.conv2d", "relax.nn.batch_norm"),
    "conv2d_scaled": feeds("relax.multiply", "relax.nn.conv2d"),
    "batch_norm": has("relax.nn.batch_norm"),
    "layer_norm": has("relax.nn.layer_norm"),
    "layout_transform_pairs": has("relax.layout_transform", 2),
    "several_outputs": many_results,
    "reshape_chain": any_of(feeds("relax.reshape", "relax.reshape"), feeds("relax.reshape", "relax.flatten"),
                            feeds("relax.reshape", "relax.expand_dims")),
    "cast_chain": feeds("relax.astype", "relax.astype"),
    "same_operand_other_attributes": duplicate_call,
    "trivial_bindings": alias,
    "duplicate_subexpressions": any_of(duplicate_call, alias),
    "tuple_bound": any_of(binds(relax.Tuple), has("relax.split")),
    "tuple_nested": nested_tuple,
    "tuples_of_tuples": nested_tuple,
    "nested_outputs": nested_tuple,
    "nested_results": nested_tuple,
    "if_on_truths": binds(relax.If),
    "if_branches": binds(relax.If),
    "impure_calls": EFFECT,
    "pure_packed_calls": any_of(has("relax.call_pure_packed"), has("relax.call_dps_packed")),
    "match_cast_redundant": match_cast,
    "match_cast_defines_symbol": match_cast,
    "constant_operands": constant_operand,
    "constant_subexpressions": constant_call,
    "duplicate_constants": constant_operand,
    "private_calls": calls_to_functions(1),
    "private_twins": two_of_one_type,
    "kernel_of_two_shapes": one_operator_of_two_shapes,
    "private_calls_symbolic": calls_to_functions(1),
    "private_parameter_defines_symbol": unused_parameter,
    "private_tuple_arguments": tuple_parameter,
    "private_unused_parameters": unused_parameter,
    "private_unused_outputs": tuple_result,
    "private_functions_unused": lambda program: bool(private_functions(program)),
    "private_in_branch": binds(relax.If),
    "local_functions": binds(relax.Function),
    "local_functions_capturing": binds(relax.Function),
    "external_workspace": attribute("WorkspaceSize"),
    "weight_transform": weight_is_transformed,
    "weight_transform_returned": weight_is_transformed,
    "weight_transform_shared": two_public_with_inputs,
    "scalar_loss": one_scalar_loss,
    "symbolic_shapes": symbolic,
    "symbolic_upper_bound": attribute("tir_var_upper_bound"),
    "symbolic_conditions": prim_condition,
    "prim_values": prim_value,
    "shape_of": has("relax.shape_of"),
    "tensor_to_shape": has("relax.tensor_to_shape"),
    "operator_name_add16": attribute("operator_name"),
    "layout_rewrite_preproc": attribute("layout_free_buffers"),
    "call_tir_inplace": has("relax.call_tir_inplace"),
    "in_place_updates": has("relax.call_tir_inplace"),
    "turned_products": has(MATMUL),
    "wrapped_comparisons": any_of(*(has(f"relax.{name}") for name in ("less", "less_equal", "equal", "not_equal")),
                                  has("relax.greater"), has("relax.greater_equal")),
    "one_hot_beyond": has("relax.one_hot"),
    "dps_packed": any_of(has("relax.call_dps_packed"), has("relax.call_pure_packed")),
    "multinomial": has("relax.multinomial_from_uniform"),
    "hint_on_device": has("relax.hint_on_device"),
    "matrix_vector": any_of(has(MATMUL), feeds("relax.multiply", "relax.sum")),
    "low_batch_matrix_vector": any_of(has(MATMUL), has("relax.einsum")),
    "wide_matmul": has(MATMUL),
    "sum_of_rows": any_of(has("relax.sum"), has("relax.max"), has("relax.min")),
    "normalised_rows": any_of(*(has(f"relax.nn.{norm}") for norm in ("softmax", "log_softmax", "layer_norm")),
                              has("relax.nn.instance_norm"), feeds("relax.sum", "relax.subtract")),
    "rms_norm_rows": has("relax.nn.rms_norm"),
    "transposed_matrix": has(PERMUTE),
    "converted_conv2d": has("relax.nn.conv2d"),
    "kernels_in_a_row": kernels(3),
    "kernels_of_weights": weight_is_transformed,
    "kernels_of_symbols": any_of(attribute("tir_var_upper_bound"), attribute("tir_non_negative_var"),
                                 attribute("tir_var_lower_bound")),
    "memory_views": has("relax.memory.view"),
    "call_tir_scalars": scalar_argument,
    "recursive_private": recursive,
    "recursive_local": binds(relax.Function),
    "local_names_taken": binds(relax.Function),
    "returned_closures": binds(relax.Function),
    "operator_names": attribute("operator_name"),
    "loss_of_kernels": one_scalar_loss,
    "loss_of_stages": has("relax.grad.start_checkpoint"),
    "symbol_of_functions": symbolic,
    "literal_operands": constant_operand,
    "weights_in_branches": binds(relax.If),
    "matmul_of_permuted_weights": any_of(feeds(PERMUTE, MATMUL), feeds(MATMUL, PERMUTE)),
    "match_cast_beside": match_cast,
    "impure_private": EFFECT,
    "private_effect_in_branch": effect_in_branches_alone,
    "private_names_of_parameters": local_named_like_a_parameter,
    "private_shared": calls_to_functions(2),
    "polymorphic_private": one_function_of_several_shapes,
    "kernel_unused_outputs": has("relax.call_tir"),
    "kernel_twins": has("relax.call_tir", 2),
    "private_copies": calls_to_functions(2),
    "siblings": any_of(has(MATMUL, 3), has("relax.nn.conv2d", 3)),
    "filled_operands": any_of(has("relax.add"), has("relax.multiply"), has("relax.subtract"), has("relax.divide"),
                              has("relax.maximum")),
    "compound_dims": symbolic,
    "compound_dims_of_private": calls_to_functions(1),
}  # fmt: skip
