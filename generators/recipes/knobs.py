"""Every ratio of the recipes, by family: what it decides and, where the value itself needs one, the reason.

Where a field gives no reason: both ways are worth a test. The way that models use most has more than one half,
a special case 0.1 to 0.3. A recipe that takes a plain `flip()` needs no ratio: that is one half.
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.recipes.kernel_knobs import KernelRecipeKnobs, LayoutKnobs, LossKnobs, LoweredKnobs, SchedulableKnobs
from generators.recipes.matmul_knobs import MatmulKnobs, ParallelMatmulKnobs, TurnedMatmulKnobs


@dataclass(frozen=True, slots=True)
class ShapeUseKnobs:
    """Operands and uses of a shape, in several families."""

    float32: float = 0.8
    """A float is float32, which most passes look for."""
    variable_in_scope: float = 0.4
    """An operand that must be a variable is one in scope, where there is one."""
    added_to_itself: float = 0.3
    """A sum has one operand twice: a pass may free or overwrite it at its first use."""
    used_again: float = 0.35
    """A value of the shape has a use outside of it, which keeps a pass from dropping it."""
    returned_beside: float = 0.3
    """A value other than the last is returned."""
    middle_returned: float = 0.4
    """The value between two calls that a pass joins comes out: then it must stay."""
    nested_returned: float = 0.25
    """A nested tuple comes out of the function itself, besides its fields."""
    keepdims: float = 0.4
    """A reduction keeps its axes."""
    cast_added: float = 0.4
    """A cast value meets another operand in a sum."""


@dataclass(frozen=True, slots=True)
class BindingKnobs:
    """Bindings, branches and casts."""

    alias_of_computed: float = 0.7
    """The first name is that of a computed value, else of a parameter."""
    alias_returned: float = 0.3
    """One of the names comes out."""
    same_name: float = 0.7
    """Equal calls have the very same operand, else an alias of it."""
    third_call: float = 0.2
    """There is a third equal call."""
    longer_duplicates: float = 0.4
    """Equal calls go on for another link."""
    duplicates_returned: float = 0.6
    """The duplicates come out, too."""
    tuple_written: float = 0.7
    """A tuple is written out, else the result of split."""
    tuple_returned: float = 0.3
    """The tuple itself comes out."""
    tuple_item_once: float = 0.7
    """The inner tuple is in the outer one once, else twice."""
    impure_among_pure: float = 0.3
    """An impure call is among the pure ones."""
    branch_dataflow: float = 0.3
    """A branch has a dataflow block."""
    branch_effect: float = 0.25
    """A branch prints or asserts something: what a pass drops of dead code, it may not drop there either."""
    branch_computes: float = 0.6
    """A branch begins with a call of its own, else with a shared value."""
    spread_compared: float = 0.3
    """A condition asks whether a tensor holds two values, which is nearly always so; else on which side of a number its
    largest or its least is."""
    whole_constants: float = 0.6
    """Constants beside a value have its shape, else one element: TVM lowers a scalar to a number."""
    field_used: float = 0.4
    """What is used after a tuple was made of it is the value itself, else the item of the tuple."""
    branches_alike: float = 0.35
    """Both branches of an If do the same with the same values, else with others of their types."""
    if_result_added: float = 0.6
    """The result of the If meets the shared value again."""
    cast_in_tuple: float = 0.4
    """The value and what was cast are in one tuple."""
    cast_again: float = 0.4
    """A redundant match_cast follows another."""
    cast_from_hidden: float = 0.4
    """The match_cast is of a value whose type hides its dims."""
    cast_reshaped: float = 0.4
    """The symbol is in a reshape."""
    cast_to_numbers: float = 0.3
    """The symbolic dims are cast back to numbers."""
    cast_unread: float = 0.3
    """Nothing reads the value of a cast that defines symbols: a tensor of that shape is made."""


@dataclass(frozen=True, slots=True)
class ElementwiseRecipeKnobs:
    """Elementwise operators, reductions and reshapes."""

    unary_after: float = 0.6
    """An elementwise operator follows, which fuses."""
    literal_divides: float = 0.3
    """An operator with a literal is a division or a power, else one that takes every number."""
    link_used_again: float = 0.4
    """A link of a chain comes out as well."""
    alias_read_late: float = 0.7
    """The other name is read after the operator that could overwrite the value."""
    permuted_before: float = 0.4
    """A permutation is before the reduction."""
    reduced_again: float = 0.3
    """A second reduction follows."""
    side_short: float = 0.15
    """One side of a diamond is the value itself."""
    side_reduced: float = 0.25
    """One side of a diamond is reduced and broadcast again."""
    side_returned: float = 0.3
    """One side of a diamond comes out."""
    outputs_in_tuple: float = 0.3
    """Two of the outputs come out in a tuple as well."""
    flattened: float = 0.1
    """A link of reshapes is flatten."""
    axis_added: float = 0.3
    """The last link of reshapes is expand_dims."""
    constant_input: float = 0.2
    """The input of reshapes is a constant."""
    reshaped_read: float = 0.6
    """The reshaped value is read as well as returned."""
    cast_back: float = 0.6
    """A cast leads back to the first dtype."""
    matrix: float = 0.7
    """The operand has rank 2, else 3."""
    filled_neutral: float = 0.75
    """The one number of a filled operand is the one that its operator leaves values as they are with."""
    filled_dim_of_one: float = 0.6
    """The other operand has one element along an axis."""
    filled_again: float = 0.3
    """The result meets another filled operand."""
    wrapped_by_number: float = 0.5
    """What wraps is computed with a number, which a rewrite brings to the other side of a comparison."""
    wrapped_otherwise: float = 0.2
    """It is a product or a negated number, else a sum or a difference, which rewrites take apart."""
    wrapped_first: float = 0.7
    """It is the first operand of a comparison."""
    chosen_by_wrapped: float = 0.3
    """A choice asks the comparison."""
    plain_one_hot: float = 0.6
    """one_hot gives ones and zeros, which alone are a product's or a sum's neutral numbers."""


@dataclass(frozen=True, slots=True)
class ConvolutionKnobs:
    """Convolutions and layouts."""

    image_in_scope: float = 0.4
    """The image is one in scope, where there is one."""
    depthwise: float = 0.12
    """Each channel is a group of its own."""
    bias_per_channel: float = 0.8
    """The bias has one number for each channel."""
    chain_bias: float = 0.7
    """The chain has a bias: most passes look for all links."""
    chain_relu: float = 0.7
    """The chain has a ReLU."""
    chain_pool: float = 0.3
    """The chain has a pool."""
    chain_conv: float = 0.3
    """The chain has another conv2d."""
    rank_kept: float = 0.6
    """A reduction keeps the rank that layouts are for."""
    before_conv: float = 0.6
    """An operator without layout is before conv2d."""
    second_conv: float = 0.4
    """A second conv2d follows operators without layout."""
    batch_norm_switch: float = 0.85
    """batch_norm has center, and scale: passes fold both."""
    batch_norm_training: float = 0.15
    """batch_norm trains, which folding must notice."""
    statistic_beside: float = 0.2
    """A statistic of a folded batch_norm is read."""
    statistic_used: float = 0.4
    """A statistic of any other batch_norm is read."""
    conv_returned: float = 0.3
    """The result of conv2d comes out as well."""
    tuple_whole: float = 0.15
    """The whole tuple of batch_norm comes out."""
    layout_changed_between: float = 0.2
    """An operator is between a layout transform and its inverse."""
    layout_split: float = 0.6
    """The layout transform splits an axis, else it permutes."""
    layout_no_inverse: float = 0.2
    """The second permutation is the first again, which is rarely its inverse."""


@dataclass(frozen=True, slots=True)
class FunctionRecipeKnobs:
    """Several functions."""

    field_taken: float = 0.7
    """One field of a returned tuple is taken, else the tuple is used whole."""
    caller: float = 0.7
    """A private function has one more caller of another kind."""
    called_through: float = 0.3
    """Another private function calls the first."""
    effect_by_call: float = 0.4
    """The effect in a branch is that of another private function, else the branch has it itself."""
    any_rank: float = 0.3
    """Arguments of a function that knows no shape differ in rank as well."""
    second_parameter: float = 0.4
    """Two parameters have the same symbol."""
    result_reshaped: float = 0.4
    """The result has the symbol in another shape."""
    symbol_in_tensor: float = 0.7
    """The symbol is defined by a tensor's type, else by a shape parameter."""
    parameter_nested: float = 0.4
    """A tuple parameter holds a tuple."""
    field_used: float = 0.7
    """A field of a tuple parameter is used."""
    parameter_returned: float = 0.15
    """A tuple parameter comes out whole: then no field may go."""
    parameter_beside: float = 0.4
    """A parameter comes out beside results that have the names of parameters."""
    tuple_unused: float = 0.3
    """An unused parameter is a tuple."""
    dead_caller: float = 0.4
    """An uncalled function calls the uncalled one."""
    other_branch_plain: float = 0.6
    """The other branch does not call the function."""
    local_calls_private: float = 0.3
    """A local function calls a private one."""
    captures_computed: float = 0.6
    """A local function captures a computed value, else a parameter."""
    captures_two: float = 0.4
    """It captures a second value."""
    after_recursion: float = 0.6
    """A recursive call is followed by an operator: else its result is that of the branch."""
    results: tuple[int, int] = (3, 5)
    """Results of a function or a kernel of which callers read some: two have too few orders."""
    result_read: float = 0.45
    """A caller reads a result."""
    last_unread: float = 0.6
    """The last result of a kernel is none of those that a caller reads."""
    read_into_tuple: float = 0.4
    """The results that a caller has read come out in one tuple, in the order in which it read them."""
    copy_of_same_shape: float = 0.3
    """A copy of a function has the shape of one before it, else a shape of its own."""
    name_of_global: float = 0.6
    """The name that a local function would be lifted to is that of another function."""


@dataclass(frozen=True, slots=True)
class SymbolicKnobs:
    """Symbolic numbers and shapes."""

    in_private: float = 0.7
    """A private function has a symbol of the same name."""
    in_public: float = 0.7
    """A public function has one."""
    number_returned: float = 0.85
    """A scalar over dims comes out: else nothing shows it."""
    number_alias: float = 0.4
    """It has a second name."""
    shape_symbolic: float = 0.7
    """shape_of is of a symbolic shape."""
    shape_parameter: float = 0.7
    """tensor_to_shape is of a parameter, else of a constant."""
    symbol_first: float = 0.5
    """What defines the symbol of compound dims is a parameter before them, else one after them."""
    compound_called: float = 0.4
    """A function of compound dims is called with an expression over a symbol, else with numbers."""
    shape_computed: float = 0.3
    """Its operand is computed."""


@dataclass(frozen=True, slots=True)
class WeightKnobs:
    """Weights and losses."""

    captured: float = 0.4
    """A local function reads a weight."""
    alias: float = 0.15
    """A transformed weight has a second name."""
    multiplied: float = 0.7
    """It meets its input in a product, else in a sum."""
    used_twice: float = 0.3
    """It is used twice."""
    late: float = 0.3
    """A weight that is not transformed follows."""
    returned: float = 0.2
    """A weight comes out as it is."""
    transform_second: float = 0.2
    """There is a second transformed weight."""
    transform_used: float = 0.7
    """A returned transformed weight is used, too."""
    transform_changed: float = 0.3
    """It is changed once more before it comes out."""
    transform_same: float = 0.8
    """Two functions compute the same of their weights."""
    loss_through_tuple: float = 0.3
    """The loss goes through a tuple."""
    loss_deeper: float = 0.3
    """One more differentiable operator precedes the loss."""


@dataclass(frozen=True, slots=True)
class RecipeKnobs:
    """The ratios of each family of recipes."""

    shared: ShapeUseKnobs = ShapeUseKnobs()
    bindings: BindingKnobs = BindingKnobs()
    elementwise: ElementwiseRecipeKnobs = ElementwiseRecipeKnobs()
    convolution: ConvolutionKnobs = ConvolutionKnobs()
    layouts: LayoutKnobs = LayoutKnobs()
    matmul: MatmulKnobs = MatmulKnobs()
    parallel_matmul: ParallelMatmulKnobs = ParallelMatmulKnobs()
    turned_matmul: TurnedMatmulKnobs = TurnedMatmulKnobs()
    schedulable: SchedulableKnobs = SchedulableKnobs()
    functions: FunctionRecipeKnobs = FunctionRecipeKnobs()
    kernels: KernelRecipeKnobs = KernelRecipeKnobs()
    lowered: LoweredKnobs = LoweredKnobs()
    symbolic: SymbolicKnobs = SymbolicKnobs()
    weights: WeightKnobs = WeightKnobs()
    losses: LossKnobs = LossKnobs()


KNOBS = RecipeKnobs()
