"""Shapes of elementwise operations and of reductions over axes."""

from __future__ import annotations

from jaxlint.staging.shapes.applied import (
    Applied,
    Result,
    Shape,
    broadcast,
    broadcast_shapes,
    shapes,
)
from jaxlint.staging.values.plain import is_none
from jaxlint.staging.values.sizes import Size, differ, product


def _below(prefix: str, names: str) -> str:
    return " ".join(f"{prefix}.{name}" for name in names.split())


@shapes(
    _below(
        "numpy",
        """exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh
        arctanh asin acos atan asinh acosh atanh negative absolute abs fabs positive invert bitwise_not bitwise_invert
        bitwise_count square round around rint fix sign floor ceil trunc astype isnan isinf isfinite isneginf isposinf
        logical_not copy conj conjugate real imag angle deg2rad rad2deg degrees radians reciprocal sinc i0 signbit
        nan_to_num fliplr flipud flip roll spacing iscomplex isreal unwrap view""",
    ),
    _below(
        "lax",
        """abs acos acosh asin asinh atan atanh cbrt ceil clz conj convert_element_type cos cosh digamma erf erf_inv erfc exp
        exp2 expm1 floor imag integer_pow is_finite lgamma log log1p logistic neg not population_count real reciprocal
        reduce_precision round rsqrt sign sin sinh sqrt square stop_gradient tan tanh rev cumsum cumprod cummax cummin
        cumlogsumexp optimization_barrier bessel_i0e bessel_i1e""",
    ),
    _below(
        "nn",
        """celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log_sigmoid log_softmax mish
        relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish
        tanh""",
    ),
    _below(
        "scipy.special",
        """erf erfc erfinv expit gammaln digamma entr exprel i0 i0e i1 i1e log_ndtr log_softmax logit ndtr ndtri gamma
        loggamma softmax""",
    ),
    _below("numpy.fft", "fftshift ifftshift"),
    _below("numpy", "tril triu sort_complex"),
    _below("lax", "clamp_gradient expand_as"),
    "optax.safe_increment optax.safe_int32_increment optax.smooth_labels optax.losses.smooth_labels",
)
def same(applied: Applied) -> Result:
    """The shape of the first operand."""
    operand = applied.needed(
        0, "x", "a", "ar", "m", "arr", "operand", "array", "val", "xs", "count", "labels"
    )
    return applied.shape_of(applied.plain(operand))


@shapes("numpy.sort numpy.argsort")
def sort(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    if "axis" in applied.kwargs and is_none(applied.kwargs["axis"]):
        return (product(shape),)
    return shape


@shapes("lax.sort")
def sort_of_lax(applied: Applied) -> Result:
    return applied.shape(0, "operand")


@shapes("numpy.cumsum numpy.cumprod numpy.nancumsum numpy.nancumprod")
def cumulative(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    return shape if applied.given(1, "axis") is not None else (product(shape),)


@shapes("numpy.cumulative_sum numpy.cumulative_prod")
def cumulative_of_standard(applied: Applied) -> Result:
    applied.only("axis", "dtype")
    shape = applied.shape(0, "x")
    return shape if len(shape) == 1 or applied.given(99, "axis") is not None else applied.unclear()


@shapes(
    _below(
        "numpy",
        """add subtract multiply divide true_divide floor_divide mod remainder fmod power pow float_power maximum minimum
        fmax fmin arctan2 atan2 hypot logaddexp logaddexp2 logical_and logical_or logical_xor equal not_equal less
        less_equal greater greater_equal isclose bitwise_and bitwise_or bitwise_xor left_shift right_shift
        bitwise_left_shift bitwise_right_shift copysign nextafter heaviside ldexp gcd lcm""",
    ),
    _below(
        "scipy.special",
        "xlogy xlog1py rel_entr kl_div betaln gammainc gammaincc zeta polygamma beta binom jv yv iv kv",
    ),
)
def of_two(applied: Applied) -> Result:
    if len(applied.args) < 2 or len(applied.args) > 4:
        applied.unclear()
    return broadcast(applied, *applied.args[:2])


@shapes("lax.clamp")
def clamp(applied: Applied) -> Result:
    return applied.shape(1, "x")


@shapes("numpy.clip")
def clip(applied: Applied) -> Result:
    names = ("arr", "min", "max", "a", "a_min", "a_max", "x")
    applied.only(*names)
    operands = [*applied.args, *(value for name in names if (value := applied.kwargs.get(name)) is not None)]
    return broadcast(applied, *(operand for operand in operands if not is_none(operand)))


@shapes("numpy.where lax.select")
def where(applied: Applied) -> Result:
    applied.only("x", "y", "condition", "pred", "on_true", "on_false")
    operands = [*applied.args, *applied.kwargs.values()]
    if len(operands) != 3 or any(map(is_none, operands)):
        applied.unclear()
    return broadcast(applied, *operands)


@shapes(
    _below(
        "lax",
        """add sub mul div rem pow max min atan2 bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge nextafter
        shift_left shift_right_arithmetic shift_right_logical complex""",
    )
)
def of_lax(applied: Applied) -> Result:
    """Both operands have one shape, or one is a number."""
    left, right = applied.shape(0, "x", "lhs"), applied.shape(1, "y", "rhs")
    if left == right or not right:
        return left
    return right if not left else applied.unclear()


@shapes("nn.glu")
def glu(applied: Applied) -> Result:
    shape = applied.shape(0, "x")
    axis = applied.axis(len(shape), 1, "axis", otherwise=-1)
    size = shape[axis]
    if not isinstance(size, int) or size % 2:
        applied.unclear()
    return (*shape[:axis], size // 2, *shape[axis + 1 :])


@shapes("nn.one_hot")
def one_hot(applied: Applied) -> Result:
    shape, classes = applied.shape(0, "x"), applied.size(1, "num_classes")
    if "axis" not in applied.kwargs:
        return (*shape, classes)
    axis = applied.axis(len(shape) + 1, 99, "axis", otherwise=-1)
    return (*shape[:axis], classes, *shape[axis:])


# -- over axes


def reduced(shape: Shape, axes: tuple[int, ...], keeps: bool) -> Shape:
    return tuple(1 if i in axes else size for i, size in enumerate(shape) if keeps or i not in axes)


def _reduce(applied: Applied, position: int, *names: str) -> Shape:
    axis = applied.given(position, "axis", "dim")
    keeps = applied.flag(99, "keepdims") or applied.flag(99, "keepdim")
    if axis is None:
        if not keeps:
            return ()
        return (1,) * len(applied.shape(0, *names))
    shape = applied.shape(0, *names)
    return reduced(shape, applied.axes(len(shape), position, "axis", "dim"), keeps)


@shapes(
    _below(
        "numpy",
        """sum prod mean var std max min amax amin any all nansum nanprod nanmean nanvar nanstd nanmax nanmin ptp
        count_nonzero median nanmedian""",
    ),
    "nn.logsumexp scipy.special.logsumexp",
)
def reduce(applied: Applied) -> Result:
    # (a, axis, dtype, out, keepdims) or (a, axis, out, keepdims): later positional arguments are too rare to
    # distinguish.
    if len(applied.args) > 3 or not {"return_sign", "weights", "out"}.isdisjoint(applied.kwargs):
        applied.unclear()
    return _reduce(applied, 1, "a", "x", "array")


@shapes("numpy.argmax numpy.argmin numpy.nanargmax numpy.nanargmin")
def index_of_largest(applied: Applied) -> Result:
    return _reduce(applied, 1, "a")


@shapes("numpy.average")
def average(applied: Applied) -> Result:
    if len(applied.args) > 3 or "returned" in applied.kwargs:
        applied.unclear()
    return _reduce(applied, 1, "a")


@shapes("numpy.quantile numpy.percentile numpy.nanquantile numpy.nanpercentile")
def quantile(applied: Applied) -> Result:
    if len(applied.args) > 3:
        applied.unclear()
    return (*applied.shape(1, "q"), *_reduce(applied, 2, "a"))


@shapes(
    _below(
        "lax", "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin"
    )
)
def reduce_of_lax(applied: Applied) -> Result:
    shape = applied.shape(0, "operand")
    return reduced(shape, applied.axes(len(shape), 1, "axes", "axis"), False)


@shapes("numpy.allclose numpy.array_equal numpy.array_equiv numpy.vdot optax.global_norm optax.tree.norm")
def single(applied: Applied) -> Result:
    return ()


@shapes("numpy.trace")
def trace(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    one = applied.axis(len(shape), 2, "axis1", otherwise=0)
    two = applied.axis(len(shape), 3, "axis2", otherwise=1)
    return reduced(shape, (one, two), False)


@shapes("numpy.diff")
def difference(applied: Applied) -> Result:
    applied.only("n", "axis")
    shape = applied.shape(0, "a")
    axis = applied.axis(len(shape), 2, "axis", otherwise=-1)
    size = shape[axis]
    if not isinstance(size, int):
        applied.unclear()
    return (*shape[:axis], max(0, size - applied.number(1, "n", otherwise=1)), *shape[axis + 1 :])


@shapes("numpy.searchsorted numpy.digitize numpy.interp numpy.isin numpy.polyval")
def of_one_of_two(applied: Applied) -> Result:
    """One result for each value that the call searches for."""
    first = applied.name in ("numpy.digitize", "numpy.interp", "numpy.isin")
    position, names = (0, ("x", "element", "ar1")) if first else (1, ("v", "x"))
    return applied.shape(position, *names)


@shapes("lax.psum lax.pmean lax.pmax lax.pmin lax.ppermute lax.pcast lax.pvary")
def over_devices(applied: Applied) -> Result:
    """Collectives of one array."""
    return applied.shape(0, "x", "operand")


# -- losses of optax


@shapes(
    _below(
        "optax",
        """l2_loss squared_error huber_loss log_cosh sigmoid_binary_cross_entropy hinge_loss absolute_error
        losses.l2_loss losses.squared_error losses.huber_loss losses.log_cosh losses.sigmoid_binary_cross_entropy
        losses.hinge_loss losses.absolute_error""",
    )
)
def loss_by_elements(applied: Applied) -> Result:
    names = ("predictions", "predictor_outputs", "logits"), ("targets", "labels")
    operands = [value for i, each in enumerate(names) if (value := applied.given(i, *each)) is not None]
    return broadcast(applied, *operands)


@shapes(
    _below(
        "optax",
        """softmax_cross_entropy cosine_similarity cosine_distance kl_divergence losses.softmax_cross_entropy
        losses.cosine_similarity losses.cosine_distance losses.kl_divergence""",
    )
)
def loss_by_rows(applied: Applied) -> Result:
    """One number remains of the last axis."""
    if not {"axis", "where"}.isdisjoint(applied.kwargs) or len(applied.args) > 2:
        applied.unclear()
    first = applied.needed(0, "logits", "predictions", "log_predictions")
    second = applied.needed(1, "labels", "targets")
    return broadcast(applied, first, second)[:-1]


@shapes(
    "optax.softmax_cross_entropy_with_integer_labels optax.losses.softmax_cross_entropy_with_integer_labels"
)
def loss_of_labels(applied: Applied) -> Result:
    if not {"axis", "where"}.isdisjoint(applied.kwargs) or len(applied.args) > 2:
        applied.unclear()
    logits, labels = applied.needed(0, "logits"), applied.needed(1, "labels")
    shape, rows = applied.of(logits), applied.shape_of(labels)
    if shape is None:
        return rows  # one number for each label
    return broadcast_shapes([(logits, shape[:-1]), (labels, rows)])


def fits(one: Size, two: Size) -> bool:
    """Whether two sizes may be equal."""
    return not differ(one, two)
