"""Which operators, nodes and passes the code of a Python pass names: there it has something to do.

Fuzzers take the words of an input language from the program under test in the same way (the dictionaries of AFL,
lcamtuf.blogspot.com/2015/01/afl-fuzz-making-up-grammar-with.html). Passes in C++ cannot be read like that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

from generators.operators.table import OPERATORS
from generators.passes.code_words import CodeWords, Lexicon
from generators.passes.knobs import KNOBS
from generators.passes.row import PassRow
from generators.passes.table import PASSES
from generators.program_facts import Feature
from generators.relax.scope import EVERY
from generators.tir.hints import HINTS

MOST = 48
"""Code that names more operators than this is about operators in general."""
MOST_DTYPES = 7
"""The same for dtypes."""
_PREFIX = "relax."
_NESTED = ("tuples_of_tuples", "nested_outputs") * KNOBS.repeats.nested
_UNREAD = ("private_unused_outputs", "kernel_unused_outputs")
SHAPES = {
    "If": (
        "if_branches",
        "private_in_branch",
        "private_effect_in_branch",
        *("if_on_truths",) * KNOBS.repeats.if_on_truths,
    ),
    "MatchCast": ("match_cast_redundant", "match_cast_defines_symbol"),
    "Tuple": ("tuple_bound", "tuple_nested", "nested_results", *_NESTED),
    "TupleGetItem": ("tuple_bound", "several_outputs", "private_tuple_arguments", "nested_results", *_UNREAD, *_NESTED),
    "GlobalVar": (
        *("private_calls", "private_twins", "private_calls_symbolic", "recursive_private", "private_shared"),
        *("polymorphic_private", "private_unused_parameters", "private_parameter_defines_symbol"),
        *("private_tuple_arguments", "private_unused_outputs", "private_in_branch", "private_copies"),
    ),
    "ShapeExpr": ("symbolic_shapes", "shape_of", "compound_dims", "compound_dims_of_private"),
    "Function": ("recursive_private", "local_functions_capturing", "returned_closures", "recursive_local"),
    **dict.fromkeys(("is_pure", "FPurity"), ("impure_private", *("private_effect_in_branch",) * KNOBS.repeats.effects)),
    **dict.fromkeys(("params", "name_hint"), ("private_names_of_parameters",)),
    "relax.memory.view": ("memory_views",),
    "relax.memory.ensure_zero_offset": ("memory_views",),
    "relax.call_tir": (
        *("call_tir_scalars", "kernels_in_a_row", "kernel_of_two_shapes", "kernel_unused_outputs", "kernel_twins"),
    ),
    "relax.matmul": ("siblings", "turned_products"),
    "relax.permute_dims": ("turned_products",),
    "relax.one_hot": ("one_hot_beyond",),
    **dict.fromkeys(
        ("relax.less", "relax.less_equal", "relax.greater", "relax.greater_equal", "relax.equal", "relax.not_equal"),
        ("wrapped_comparisons",),
    ),
    **dict.fromkeys(("relax.zeros", "relax.ones", "relax.full", "relax.broadcast_to"), ("filled_operands",)),
    "relax.call_tir_inplace": ("call_tir_inplace", "in_place_updates"),
    "relax.memory.alloc_storage": ("kernels_in_a_row", "kernels_of_symbols", "in_place_updates"),
    "relax.builtin.alloc_tensor": ("kernels_in_a_row", "kernels_of_symbols", "in_place_updates"),
    "relax.nn.conv2d": ("converted_conv2d", "siblings"),
    "relax.reshape": ("elementwise_on_alias",),
    "relax.layout_transform": ("layout_transform_pairs", "operator_names"),
    "relax.call_builtin_with_ctx": ("returned_closures", "recursive_local"),
}
"""The recipes that hold a node of Relax, or an operator in a way that chains of operators do not, those with the most
to tell several times."""
PRIM_SHAPES = {
    "While": ("counting_up",),
    "Cast": ("narrow_products",),
    "Bind": ("kept_values", "exchanged_states"),
    "BufferStore": ("partly_covered", "copies_kept", "loaded_for_the_next"),
    "FloorMod": ("rows_by_turns", "far_numbers"),
    "FloorDiv": ("far_numbers",),
    "BufferLoad": ("read_again", "updates_in_place", "last_seen"),
    "For": ("last_turns", "copied_back", "scaled_sums"),
    "assume": ("facts_in_one_place",),
    "DeclBuffer": ("second_names",),
    "continue_loop": ("jumps",),
    "break_loop": ("jumps",),
    "IfThenElse": ("first_turns", "inner_branches", "asked_again"),
    "SeqStmt": ("several_stores", "joined_loops"),
    "AllocBuffer": ("carried_lives", "joined_loops", "recurrences"),
    **dict.fromkeys(
        ("THREAD_BINDING", "thread_tag", "thread_extent"), ("guards_of_threads", "guards_of_virtual_threads")
    ),
    **dict.fromkeys(("VECTORIZED", "Ramp"), ("lane_quotients", "lane_arithmetic", "lane_conditions")),
}
"""The shapes of PrimFunc that hold a node or an intrinsic of TIR in a way that matters."""
_COMMON = frozenset(
    (
        *("Cast", "Bind", "BufferStore", "BufferLoad", "For", "IfThenElse", "SeqStmt", "AllocBuffer", "DeclBuffer"),
        *("init", "predicate", "alloc_buffers", "indices", "iter_type", "CommReduce", "DataPar"),
    )
)
"""What the code of most passes of loops, or of blocks, names, whatever they do: helpers that walk over statements name
all."""
BLOCK_SHAPES = {
    "match_buffers": ("matched_regions",),
    "init": ("sums_from_a_number",),
    "predicate": ("blocks_without_axes",),
    "alloc_buffers": ("steps_by_temporary",),
    "indices": ("stores_at_an_offset",),
    **dict.fromkeys(("iter_type", "CommReduce", "DataPar", "Ordered"), ("time_steps", "sums_from_a_number")),
    **dict.fromkeys(("THREAD_BINDING", "thread_tag"), ("sibling_threads",)),
}
"""The same for passes of blocks, by fields of these."""
FEATURES = dict.fromkeys(("Constant", "GenericConst"), Feature.CONSTANTS)
"""Features of programs by the nodes that they are about: constants have had two names."""
_OF_PROGRAMS = frozenset({Feature.NUM_INPUT, Feature.SYMBOLIC, Feature.CONSTANTS, Feature.SCALAR_LOSS})
"""Features without which recipes are not planted, or programs are none for the pass."""
_NODES = SHAPES.keys() | PRIM_SHAPES.keys() | BLOCK_SHAPES.keys() | FEATURES.keys()
_GROUPS = frozenset(parts[1] for parts in (name.split(".") for name in OPERATORS) if len(parts) > 2)


def with_vocabulary(row: PassRow, make: Callable[..., object], folder: Path | None = None) -> PassRow:
    """The row of a loaded pass with the operators and dtypes that its factory's code names, recipes with the nodes, and
    what makes the passes of TVM fire that it applies; passes of TIR have the last alone. folder: of the loaded file."""
    words, refused = _words_and_refusals(make, folder)
    like = like_passes(row, words, refused)
    if not row.fires.recipes:
        return like
    shapes = (*shapes_named(words), *like.fires.vocabulary.shapes)
    named = replace(
        like.fires.vocabulary,
        operators=operators_named(words),
        shapes=shapes,
        dtypes=dtypes_named(words),
        features=tuple(dict.fromkeys(feature for word, feature in FEATURES.items() if word in words)),
    )
    return replace(like, fires=replace(like.fires, vocabulary=named))


def like_passes(row: PassRow, words: Set[str], refused: Set[str] = frozenset()) -> PassRow:
    """The row with the recipes, the options and the features of the passes of TVM that the code names, by their
    constructor or by a mark that they look for, and with the hints that it names. refused: words that tell nothing of
    what the pass changes.

    A pass of Relax takes what Relax passes fire on, one of TIR what TIR passes fire on; shapes of PrimFunc suit both.
    """
    named = [other for _, other in sorted(PASSES.items()) if words & _words_for(other)]
    fires = [other.fires for other in named if other.of_relax == row.of_relax]
    forms = BLOCK_SHAPES if Feature.PRIM_FUNCS in row.fires.wants else PRIM_SHAPES
    known = fires if row.fires.recipes else [replace(each, recipes=()) for each in fires]
    return replace(
        row,
        fires=replace(
            row.fires,
            prim_recipes=tuple(dict.fromkeys(recipe for other in named for recipe in other.fires.prim_recipes)),
            options=tuple(dict.fromkeys(text for each in fires for text in each.options)),
            hints=frozenset(words & HINTS.keys()),
            wants=row.fires.wants | frozenset(want for each in known for want in each.wants if want in _OF_PROGRAMS),
            vocabulary=replace(
                row.fires.vocabulary,
                shapes=tuple(recipe for each in known for recipe in each.recipes),
                prim_shapes=_shapes_of(words & forms.keys(), forms),
                telling_shapes=_shapes_of((words & forms.keys()) - _COMMON - refused, forms),
            ),
        ),
    )


def _shapes_of(words: Set[str], forms: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(shape for word, shapes in forms.items() if word in words for shape in shapes))


def _words_for(row: PassRow) -> frozenset[str]:
    """Words of code that is about what a pass of the table does."""
    return frozenset({_constructor(row), *row.fires.marks})


def _constructor(row: PassRow) -> str:
    return row.name.split("[")[0].rpartition(".")[2]


_CONSTRUCTORS = frozenset(map(_constructor, PASSES.values()))
_MARKS = frozenset(mark for row in PASSES.values() for mark in row.fires.marks)
_LEXICON = Lexicon(_NODES, _NODES | _CONSTRUCTORS | _MARKS, _CONSTRUCTORS, _GROUPS)


def operators_named(words: Set[str]) -> tuple[str, ...]:
    """The operators of the table among the words of some code. Sorted; none where these are more than MOST."""
    known = sorted(OPERATORS.keys() & {_PREFIX + name.removeprefix(_PREFIX) for name in words})
    return tuple(known) if len(known) <= MOST else ()


def dtypes_named(words: Set[str]) -> tuple[str, ...]:
    """The dtypes among the words of some code. Sorted; none where these are more than MOST_DTYPES."""
    known = sorted(set(EVERY) & words)
    return tuple(known) if len(known) <= MOST_DTYPES else ()


def shapes_named(words: Set[str]) -> tuple[str, ...]:
    """The recipes with the nodes of Relax among the words of some code."""
    known = {*words, *(_PREFIX + word for word in words)}
    return tuple(recipe for node, recipes in SHAPES.items() if node in known for recipe in recipes)


def words_of(make: Callable[..., object], folder: Path | None = None) -> set[str]:
    """What a function names, or those of its file and of files in the folder that it uses: in strings ("relax.add",
    "add"), as attributes (`relax.op.add`), and nodes of Relax. Nothing where there is no file with its source.

    Nothing is imported for this: of a module that no import has reached yet, all that the file says counts.
    """
    return _words_and_refusals(make, folder)[0]


def _words_and_refusals(make: Callable[..., object], folder: Path | None) -> tuple[set[str], set[str]]:
    """The words, and those that stand nowhere but in refusals."""
    bound = make.func if isinstance(make, partial) else make
    words = CodeWords(_LEXICON, getattr(bound, "__module__", ""), folder)
    words.read(make)
    return words.found, words.found - words.told
