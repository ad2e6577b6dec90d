"""Wrong passes of which scripts show what is wrong, one for each check or more: the text of a file for --load."""

FAULTS = '''
import os, resource, time
import tvm
from tvm import relax, tirx

def as_pass(name, change):
    return lambda: tvm.transform.module_pass(lambda mod, ctx: change(mod), opt_level=0, name=name)

def renamed(mod):
    """A new module whose main has one more attribute than before, every time."""
    (g, f), = mod.functions.items()
    out = mod.clone()
    out.update_func(g, f.with_attr("n", (f.attrs["n"] + 1) if "n" in f.attrs else 0))
    return out

def in_place(mod):
    (g, f), = mod.functions.items()
    mod.update_func(g, f.with_attr("touched", 1))
    return mod.clone()

def subtracting(mod):
    """add becomes subtract."""
    @relax.expr_functor.mutator
    class Swap(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return relax.op.subtract(*call.args) if call.op.name == "relax.add" else call
    (g, f), = mod.functions.items()
    out = mod.clone()
    out.update_func(g, Swap(mod).visit_expr(f))
    return out

def undefined(mod):
    (g, f), = mod.functions.items()
    body = relax.SeqExpr([], relax.Var("ghost", f.ret_ty))
    out = mod.clone()
    out.update_func(g, relax.Function(f.params, tvm.relax.BlockBuilder().normalize(body), f.ret_ty, True, f.attrs))
    return out

def impure(mod):
    return relax.transform.KillAfterLastUse()(mod)

def without_attributes(mod):
    (g, f), = mod.functions.items()
    out = mod.clone()
    out.update_func(g, f.without_attr("global_symbol").with_attr("global_symbol", "other"))
    return out

def mistyped(mod):
    (g, f), = mod.functions.items()
    out = mod.clone()
    ret = relax.TensorType((3,), "float32")
    out.update_func(g, relax.Function(f.params, f.body, ret, True, f.attrs))
    return out

count = [0]
def counting(mod):
    count[0] += 1
    (g, f), = mod.functions.items()
    out = mod.clone()
    out.update_func(g, f.with_attr("n", count[0]))
    return out

def raising(mod):
    raise tvm.error.InternalError("Check failed: planted")

def alone(mod):
    if len(mod.functions) > 1:
        raise ValueError("only one function, please")
    return mod

def tallied(mod):
    (g, f), = mod.functions.items()
    return mod.with_attr("bindings", sum(len(block.bindings) for block in f.body.blocks))

def odd_name(mod):
    """A function whose name the script cannot say."""
    (g, f), = mod.functions.items()
    return tvm.IRModule({relax.GlobalVar("not a name"): f.with_attr("global_symbol", "not a name")})

def silent(mod):
    (g, f), = mod.functions.items()
    block = relax.BindingBlock([b for b in f.body.blocks[0].bindings if not str(b.value).startswith("R.print")])
    function = relax.Function(f.params, relax.SeqExpr([block], f.body.body), f.ret_ty, f.is_pure, f.attrs)
    return tvm.IRModule({g: function})

def without_gradients(mod):
    """The adjoint of main, whose gradients are zero."""
    @relax.expr_functor.mutator
    class Zero(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return relax.op.zeros(call.args[0], "float32") if call.op.name == "relax.ones" else call
    out = relax.transform.Gradient("main")(mod)
    adjoint = out.get_global_var("main_adjoint")
    out.update_func(adjoint, Zero(out).visit_expr(out[adjoint]))
    return out

def nested(mod):
    """A call inside of a call."""
    (g, f), = mod.functions.items()
    x = f.params[0]
    call = relax.op.add(relax.op.add(x, x), x)
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y := relax.Var("y", f.ret_ty), call)])], y)
    out = mod.clone()
    out.update_func(g, relax.Function(f.params, body, f.ret_ty, True, f.attrs))
    return out

def unbuildable(mod):
    (g, f), = mod.functions.items()
    x = f.params[0]
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.ewise_fma(x, x, x)))
    return bb.get()

PASSES = {
    "Die": as_pass("Die", lambda mod: os.kill(os.getpid(), 9)),
    "Raise": as_pass("Raise", raising),
    "Limits": as_pass("Limits", lambda mod: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)) or mod),
    "Renamed": as_pass("Renamed", renamed),
    "InPlace": as_pass("InPlace", in_place),
    "Subtracting": as_pass("Subtracting", subtracting),
    "Undefined": as_pass("Undefined", undefined),
    "Impure": as_pass("Impure", impure),
    "WithoutAttributes": as_pass("WithoutAttributes", without_attributes),
    "Mistyped": as_pass("Mistyped", mistyped),
    "Counting": as_pass("Counting", counting),
    "Alone": as_pass("Alone", alone),
    "Tallied": as_pass("Tallied", tallied),
    "Unbuildable": as_pass("Unbuildable", unbuildable),
    "OddName": as_pass("OddName", odd_name),
    "Nested": as_pass("Nested", nested),
    "WithoutGradients": as_pass("WithoutGradients", without_gradients),
    "Silent": as_pass("Silent", silent),
    "Nothing": as_pass("Nothing", lambda mod: mod.clone()),
}
'''
