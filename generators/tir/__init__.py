"""Random PrimFuncs and random schedules of them.

`functions.draw_prim_func` draws, `schedules.draw_schedule` schedules, `wrap.wrapped` puts one into a Relax module.
"""
