"""What passes of the TIR pipeline look for that few programs hold: annotations, attributes and scopes, and the shapes
of PrimFunc that hold them."""

from __future__ import annotations

from generators.passes.options import DOUBLE_BUFFER, MERGE_STATIC
from generators.passes.row import Fires, Rate
from generators.passes.traits import Quiet
from generators.program_facts import Feature

ON_THREADS = Fires(in_repertoire=False)
CHECK = Quiet("a check: it gives back the module that it gets, or refuses it")
ON_INTEGERS = Fires(wants=frozenset({Feature.INTEGERS}))
"""For passes that rewrite integer expressions: they are tried on functions that go through small ranges."""
VECTOR_LOOPS = ("lane_arithmetic", "lane_conditions", "lane_quotients", "vector_tails", "vectors_in_vector_loops")
"""Shapes of vectorized loops."""
FLOAT8 = ("float8", "float8_loops")
"""Shapes with floats of 8 bits."""


def on_threads(*recipes: str) -> Fires:
    """For passes that need kernels of certain shapes."""
    return Fires(prim_recipes=recipes, in_repertoire=False)


LOCAL_STAGES = Fires(
    prim_recipes=("local_stage",), marks=("tirx.manifest_shared_memory_local_stage",), in_repertoire=False
)
PIPELINES = Fires(
    prim_recipes=("software_pipeline", "pipelined_kernel"),
    marks=("software_pipeline_stage", "software_pipeline_order", "software_pipeline_async_stages"),
)
VIRTUAL_THREADS = Fires(
    prim_recipes=("virtual_threads", "virtual_threads_in_kernel"),
    marks=("virtual_thread", "vthread", "vthread.x"),
)
DOUBLE_BUFFERS = Fires(
    prim_recipes=("double_buffers", "double_buffered_tile"),
    marks=("double_buffer_scope", "double_buffer_write"),
    options=DOUBLE_BUFFER,
)
REDUCTIONS = Fires(
    prim_recipes=("thread_allreduce", "thread_reduction"),
    marks=("reduce_scope", "tvm_thread_allreduce"),
    in_repertoire=False,
)
MERGED_TILES = Fires(
    prim_recipes=("several_tiles", "asynchronous_copies"),
    marks=("shared", "shared.dyn"),
    options=MERGE_STATIC,
    in_repertoire=False,
)
_SHARING = ("several_tiles", "asynchronous_copies", "double_buffered_tile", "pipelined_kernel")
BARRIERS = {
    scope: Fires(prim_recipes=recipes, marks=("tvm_storage_sync", scope), in_repertoire=False, rate=rate)
    for scope, recipes, rate in (
        ("shared", _SHARING, Rate(4)),
        ("shared.dyn", ("several_tiles",), None),
        ("warp", ("warp_memory",), None),
    )
}
"""For the barriers of each kind of memory."""
