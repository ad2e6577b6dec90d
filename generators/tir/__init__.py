"""Random PrimFuncs and random schedules of them.

`functions.draw_prim_func` draws one, `schedules.draw_schedule` schedules it, `relax_caller.wrapped` puts it into a
Relax module.
"""
