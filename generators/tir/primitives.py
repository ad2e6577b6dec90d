"""The table of schedule primitives: each public method of `tvm.s_tir.Schedule` has a row or a reason to have none."""

from __future__ import annotations

from generators.tir.block_rows import BLOCK_ROWS
from generators.tir.cache_rows import CACHE_ROWS
from generators.tir.loop_rows import LOOP_ROWS
from generators.tir.schedule_row import ExcludedPrimitive, Primitive

PRIMITIVES: tuple[Primitive, ...] = (*LOOP_ROWS, *BLOCK_ROWS, *CACHE_ROWS)

_LOOKS = "looks at the schedule and changes nothing"
EXCLUDED: tuple[ExcludedPrimitive, ...] = (
    *(
        ExcludedPrimitive(name, _LOOKS)
        for name in (
            "mod",
            "state",
            "trace",
            "func_working_on",
            "show",
            "get",
            "get_sref",
            "get_sblock",
            "get_loops",
            "get_child_blocks",
            "get_producers",
            "get_consumers",
            "get_output_blocks",
            "can_decompose_padding",
        )
    ),
    *(
        ExcludedPrimitive(name, "a type, of annotate's argument")
        for name in ("AnnotationValueT", "PrimAnnotationValueT")
    ),
    ExcludedPrimitive("work_on", "chooses among the functions of a module; ours has one that is scheduled, main"),
    ExcludedPrimitive("copy", "copies the schedule, not the function"),
    ExcludedPrimitive("seed", "seeds the sampling primitives, whose decisions are drawn by us"),
    ExcludedPrimitive("fork_seed", "as seed"),
    ExcludedPrimitive("remove_rv", "forgets a name in the schedule's symbol table, changes no statement"),
    ExcludedPrimitive("enter_postproc", "a marker in the trace"),
    ExcludedPrimitive(
        "unsafe_hide_buffer_access",
        "takes accesses out of a block's declared regions, so that these are wrong: later passes may "
        "rightly compute something else",
    ),
)
