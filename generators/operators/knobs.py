"""Every ratio of the operator rows, by family: what it decides, and the reason where the value itself needs one. Else
what models use most has more than one half, and a special case 0.1 to 0.3, as both are worth a test.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommonFormKnobs:
    """Forms that several families draw."""

    rare: float = 0.04
    """A documented form that LegalizeOps refuses or lowers wrongly: rare, so that it does not hide other findings."""
    unlowerable: float = 0.03
    """The same for forms without any result so far: an absent axis of concat, one operand of meshgrid."""
    symbolic: float = 0.2
    """The shape may be symbolic: lowerings of images, losses and norms often want numbers."""
    symbolic_rarely: float = 0.1
    """The same for attention and box transforms: few of them lower."""
    nonempty: float = 0.9
    """An operand whose lowering divides by its extents, or leaves a sum over nothing unwritten, has elements."""
    dim_of_one: float = 0.3
    """A dim of an operand that broadcasts is 1."""
    negative_axis: float = 0.3
    """An axis is counted from the end."""
    negative_axes: float = 0.4
    """The same for normalisations and squeeze, where passes mix the two spellings."""
    axis_absent: float = 0.25
    """argmax, cumsum and repeat take the flat operand: a path of its own in TOPI."""
    keepdims: float = 0.4
    """The reduced axes stay, with extent 1."""


@dataclass(frozen=True, slots=True)
class ElementwiseKnobs:
    """Broadcasts, activations and casts."""

    equal_operands_dropped: float = 0.8
    """A fused multiply-add of three equal operands is not drawn: it says little."""
    condition_first: float = 0.3
    """The condition of where is drawn first, and the values broadcast with it."""
    positive_divisor: float = 0.6
    """Divisors are positive, else all negative: rounding of quotients differs in sign."""
    literal_divisor: float = 0.2
    """A divisor is one number: a power of two is what shifts and masks are made of."""
    last_axis: float = 0.4
    """Softmax goes over the last axis, as in most models."""
    large_scores: float = 0.2
    """Softmax is of numbers up to 128, of which float32 has no exponential."""
    one_slope: float = 0.15
    """prelu has one slope for all channels."""
    whole_cast: float = 0.7
    """astype takes an integer to an integer dtype, in a chain."""
    cast_back: float = 0.25
    """astype gives the dtype that the operand before the last operator of a chain had."""
    scale_float32: float = 0.8
    """Scales of quantisation are float32, else float16."""
    zero_dtypes: tuple[tuple[str, int], ...] = (("int8", 3), ("int32", 3), ("uint8", 2), ("int16", 1), ("float16", 1))
    """(dtype, weight) of zero points, most often those of quantised models; float16 last, for float data alone."""
    quantized_dtypes: tuple[tuple[str, int], ...] = (("int8", 3), ("uint8", 2), ("int16", 1))
    """(dtype, weight) of what quantize gives, most often those of quantised models."""
    dequantized_narrow: float = 0.6
    """dequantize is given such, else any number."""
    dequantized_float32: float = 0.7
    """dequantize gives float32, else float16."""


@dataclass(frozen=True, slots=True)
class ProductKnobs:
    """Matrix products and attention."""

    fewer_batch_dims: float = 0.3
    """An operand of matmul lacks leading batch dims of the other."""
    more_batch_dims: float = 0.2
    """An operand of matmul has one batch dim more than the other."""
    vector: float = 0.2
    """The second operand of matmul is a vector."""
    square: float = 0.2
    """The second operand of matmul is as long as the first."""
    drawn_on_the_left: float = 0.6
    """The first operand of matmul that is drawn is on the left."""
    wider_result: float = 0.3
    """A product names a wider result dtype."""
    mixed_operands: float = 0.3
    """Then its operands have different dtypes where TVM allows that."""
    same_keys: float = 0.4
    """Attention has as many keys as queries."""
    same_value_width: float = 0.6
    """The values of attention are as wide as its keys."""


@dataclass(frozen=True, slots=True)
class ReductionKnobs:
    """Reductions."""

    axes_empty: float = 0.03
    """A reduction over an empty list of axes, which TVM takes for all of them in places."""
    median_keepdims_lowered: float = 0.05
    """keepdims of a flat median of rank 2 or more: the legalised result has rank 1."""
    median_flat: float = 0.3
    """A median goes over all elements."""


@dataclass(frozen=True, slots=True)
class SearchKnobs:
    """Searching, sorting, scans and sampling."""

    rank_0: float = 0.05
    """An operand of argmax of rank 0: the type rule allows it, topi refuses it."""
    exclusive: float = 0.4
    """A cumulative operator leaves the element itself out."""
    unique_axis: float = 0.4
    """unique goes along an axis, else over the flat operand."""
    unique_returns: tuple[float, ...] = (0.7, 0.3, 0.2, 0.3)
    """unique sorts; and it gives first positions, inverse positions, counts."""
    accumulator_named: float = 0.4
    """cumsum and cumprod name a dtype."""
    accumulator_wider: float = 0.6
    """Then it is wider than that of the operand."""
    sample_float32: float = 0.8
    """Weights of multinomial are float32, else float64."""
    valid_k: float = 0.85
    """topk asks for 1 to all elements, else for 0, all or more."""


@dataclass(frozen=True, slots=True)
class NormKnobs:
    """Normalisations and losses."""

    symbolic_group_norm: float = 0.15
    """The shape of group_norm may be symbolic: it then has one group."""
    negative_channel: float = 0.2
    """The channel of group_norm is counted from the end."""
    second_axis: float = 0.6
    """The channel is axis 1, as in most models."""
    trailing_axes: float = 0.6
    """layer_norm goes over the last one or two axes, as in most models."""
    usual_axes: float = 0.7
    """group_norm goes over all axes after the channel, as in most models."""
    axis_taken: float = 0.6
    """Else each other axis is taken."""
    one_axis_as_number: float = 0.4
    """One axis is written as a number, else as a list of one."""
    training: float = 0.6
    """batch_norm computes the statistics, else it is given them."""
    batch_norm_switched_off: float = 0.25
    """batch_norm leaves out center or scale: passes that fold it look at both."""
    class_weights: float = 0.6
    """nll_loss has weights of the classes."""


@dataclass(frozen=True, slots=True)
class WindowKnobs:
    """Convolutions, pools and padding."""

    width_before_height: float = 0.02
    """A convolution has the data layout NCWH, which TVM takes and often lowers wrongly: rare, so that it does not hide
    other findings."""
    int8_widened: float = 0.7
    """A convolution of 8-bit operands gives a wider dtype: their own rarely holds the sums."""
    half_widened: float = 0.2
    """The same for 16-bit floats."""
    float32_widened: float = 0.05
    """The same for float32, which no model does."""
    out_dtype_named: float = 0.2
    """Else the operands' dtype is named as that of the result."""
    out_layout_named: float = 0.2
    """The layout of the result is named though it is that of the data."""
    short_form: float = 0.6
    """Equal numbers per spatial axis are written as one."""
    short_padding: float = 0.7
    """Equal padding on both sides is written once."""
    symmetric_padding: float = 0.7
    """The padding after an axis is that before it, as in most models."""
    same_window: float = 0.4
    """All spatial axes have the same window, as in most models."""
    output_padding: float = 0.4
    """A transposed convolution has output padding."""
    one_group: float = 0.55
    """A convolution has one group."""
    ceil_mode: float = 0.3
    """A pool rounds its extent up."""
    size_absent: float = 0.15
    """An adaptive pool names no size."""
    padded_axis: float = 0.6
    """nn.pad pads an axis."""
    padded_window: float = 0.4
    """It pads all but the first two axes: what a convolution or a pool goes over in the usual layouts."""
    padded_before_window: float = 0.8
    """The same where one is to follow."""
    zeros_before_window: float = 0.7
    """It pads with zeros where one is to follow, as that itself would."""
    widest_zeros: int = 1
    """Then each end gets at most so many: less than most windows have."""


@dataclass(frozen=True, slots=True)
class CreationKnobs:
    """Tensors from shapes and numbers."""

    dtype_named: float = 0.3
    """full_like, ones_like and zeros_like name a dtype, else take that of the operand."""
    eye_dtype_named: float = 0.15
    """The same for eye_like, whose dtype inference is weaker."""
    fill_of_result_dtype: float = 0.6
    """A fill value has the dtype of the result, else it is converted."""
    shape_value: float = 0.4
    """A created tensor takes its shape from a shape value, where there is one."""
    shape_of_tensor: float = 0.4
    """Else it takes the dims of a tensor in scope."""
    shape_in_scope: float = 0.7
    """shape_to_tensor takes a shape value in scope, else a written shape."""
    fill_computed: float = 0.3
    """A fill value is any scalar, else a constant."""
    symbolic_end: float = 0.3
    """arange ends at a symbolic dim, where there is one."""
    eye_columns: float = 0.7
    """eye names its columns."""
    diagonal_shifted: float = 0.7
    """triu and tril begin off the main diagonal."""
    indices_beyond: tuple[int, ...] = (0, 0, 1, 2)
    """How far beyond its places an index of one_hot may be, where none is on: frameworks mask with -1."""
    one_hot_far_axis: float = 0.05
    """A negative axis of one_hot that is not -1: the type rule takes it, topi does not."""


@dataclass(frozen=True, slots=True)
class ReshapingKnobs:
    """Reshapes and layouts."""

    shape_value_bound: float = 0.06
    """A target shape that is a value: lowering follows those bound to a written shape only."""
    axes_absent: float = 0.25
    """permute_dims reverses all axes: passes forget absent axes."""
    one_new_axis: float = 0.6
    """expand_dims adds one axis, else none to two."""
    collapsed_same_dtype: float = 0.7
    """collapse_sum_like has operands of one dtype."""
    dim_in_scope: float = 0.2
    """A new dim is one that a value in scope has."""
    inferred_dim: float = 0.3
    """reshape writes one dim as -1."""
    copied_dim: float = 0.2
    """Else reshape may write unchanged dims as 0."""
    empty_shape: float = 0.3
    """One element is reshaped to rank 0."""
    one_inserted: float = 0.3
    """A regrouped symbolic shape gets a dim of 1."""
    ones_added: float = 0.7
    """squeeze looks for an operand with dims of 1."""
    squeeze_all: float = 0.4
    """squeeze names no axes."""
    squeezed: float = 0.7
    """squeeze names an axis of extent 1."""
    squeezed_longer: float = 0.1
    """squeeze names an axis of another extent, which stays."""
    one_broadcast: float = 0.7
    """broadcast_to makes a dim of 1 longer."""
    ones_broadcast: float = 0.8
    """broadcast_to gets an operand with a dim of 1, where it begins a chain or stands in none."""
    collapsed_dim: float = 0.35
    """collapse_sum makes a dim 1."""
    fewer_dims: float = 0.4
    """collapse_sum drops leading dims."""
    split_layout: float = 0.6
    """A layout transform splits an axis."""
    fused_layout: float = 0.4
    """A layout transform joins two axes."""
    pad_value: float = 0.3
    """A layout transform without padding names a pad value all the same."""


@dataclass(frozen=True, slots=True)
class JoiningKnobs:
    """Joining, splitting and repeating."""

    same_part: float = 0.15
    """Another operand of concat or stack is the first one again."""
    same_length: float = 0.4
    """An operand of meshgrid is as long as the first: "xy" is drawn for those."""
    other_length: float = 0.4
    """An operand of concat differs from the first along the axis."""
    tile_number: float = 0.3
    """tile repeats by one number, else by one per axis."""
    lengths_beyond: float = 0.2
    """Lengths of reverse_sequence go beyond the axis."""


@dataclass(frozen=True, slots=True)
class SlicingKnobs:
    """Slices."""

    nonempty: float = 0.93
    """A slice of an axis has elements: an empty one does not show in any result."""
    negative_axis: float = 0.2
    """An axis of a slice of static shape is counted from the end."""
    negative_axis_beside_symbol: float = 0.02
    """The same with a symbolic dim: it does not lower."""
    begin_beyond: float = 0.2
    """A slice from the first element begins far before it."""
    end_beyond: float = 0.4
    """A slice to the last element ends far after it."""
    from_the_end: float = 0.3
    """A bound of a slice counts from the end."""
    inbound: float = 0.15
    """strided_slice promises bounds in range."""
    stepped: float = 0.6
    """strided_slice names strides."""
    long: float = 0.4
    """A slice has many elements to take from."""


@dataclass(frozen=True, slots=True)
class IndexingKnobs:
    """Gathers and scatters."""

    small_index_dtype: float = 0.2
    """take has indices of a narrow dtype."""
    batched: float = 0.4
    """gather_nd has batch dims."""
    flattened: float = 0.2
    """take goes over a vector: then the axis may be absent."""
    number_index: float = 0.08
    """The index of take is a number, not a tensor."""
    fewer_elements: float = 0.15
    """Indices of gather_elements are shorter than the data off the axis."""
    own_index_count: float = 0.6
    """Indices of gather_elements are as many as drawn along the axis, else as the data has."""
    index_dim_of_one: float = 0.2
    """A dim of one of several index tensors is 1."""
    fewer_index_dims: float = 0.2
    """One of several index tensors has fewer dims."""
    smaller_updates: float = 0.05
    """Updates of scatter_elements that are smaller off the axis: the lowering takes equal extents for granted."""
    negative_index: float = 0.3
    """Indices count from the end, too."""
    index_of_rank_two: float = 0.1
    """index_put has indices of rank 2, of which TVM warns."""
    one_update: float = 0.3
    """scatter_elements writes one element along the axis."""
    mean: float = 0.1
    """scatter_elements takes the mean, which few backends have."""
    whole_slice: float = 0.1
    """slice_scatter writes the whole axis."""


@dataclass(frozen=True, slots=True)
class VisionKnobs:
    """Images, regions and boxes."""

    crop: float = 0.15
    """resize2d crops."""
    outside_excluded: float = 0.2
    """Two-dimensional cubic resizing excludes samples outside."""
    flat_grid: float = 0.7
    """A grid of affine_grid is two-dimensional."""
    aligned: float = 0.4
    """roi_align aligns its corners."""
    softmax: float = 0.6
    """multibox_transform_loc applies a softmax to the scores."""
    boxes_clipped: float = 0.4
    """It clips boxes to the unit square."""
    background_kept: float = 0.7
    """It keeps the background class."""
    none_above: float = 0.3
    """Scores may lie below every threshold."""
    soft_suppression: float = 0.3
    """non_max_suppression decays scores."""
    indices_returned: float = 0.6
    """It gives indices too."""
    forced: float = 0.3
    """It suppresses across classes."""
    invalid_last: float = 0.4
    """It moves invalid boxes to the end."""
    onnx: float = 0.25
    """all_class_non_max_suppression has ONNX's form."""


@dataclass(frozen=True, slots=True)
class OperatorKnobs:
    """The ratios of each family of operators."""

    shared: CommonFormKnobs = CommonFormKnobs()
    elementwise: ElementwiseKnobs = ElementwiseKnobs()
    products: ProductKnobs = ProductKnobs()
    reduction: ReductionKnobs = ReductionKnobs()
    search: SearchKnobs = SearchKnobs()
    norms: NormKnobs = NormKnobs()
    windows: WindowKnobs = WindowKnobs()
    creation: CreationKnobs = CreationKnobs()
    reshaping: ReshapingKnobs = ReshapingKnobs()
    joining: JoiningKnobs = JoiningKnobs()
    slicing: SlicingKnobs = SlicingKnobs()
    indexing: IndexingKnobs = IndexingKnobs()
    vision: VisionKnobs = VisionKnobs()


KNOBS = OperatorKnobs()
