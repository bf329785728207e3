"""Dtypes: JAX's promotion rules, and the result dtypes of array functions.

With `jax_enable_x64` off, the default. Checked against the installed JAX by `tests/engine/test_jaxapi_dtypes.py`.
"""

from __future__ import annotations

import functools

# Each dtype and the dtypes that it promotes to; "int*", "float*" and "complex*" are weak: Python numbers, and arrays
# made from them.
_ABOVE: dict[str, tuple[str, ...]] = {
    "bool": ("int*",),
    "int*": ("uint8", "int8"),
    "uint8": ("uint16", "int16"),
    "uint16": ("uint32", "int32"),
    "uint32": ("uint64", "int64"),
    "uint64": ("float*",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("float*",),
    "float*": ("bfloat16", "float16", "complex*"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "complex*": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}
_WITHOUT_X64 = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
_WEAK = {"bool": "bool", "int": "int*", "float": "float*", "complex": "complex*"}
_ALIASES = {
    "float": "float32",
    "int": "int32",
    "complex": "complex64",
    "float_": "float64",
    "double": "float64",
    "single": "float32",
    "half": "float16",
    "bool_": "bool",
    "int_": "int64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "i4": "int32",
    "i8": "int64",
    "bf16": "bfloat16",
}
LOW_PRECISION = frozenset({"bfloat16", "float16"})


def is_float(dtype: str) -> bool:
    """Whether a dtype, weak ones included, is a real floating type."""
    return dtype.startswith(("float", "bfloat"))


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


# The smallest and the largest value of each integer dtype.
INTEGER_ENDS = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (2, 4, 8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (2, 4, 8, 16, 32, 64)},
}


def named_dtype(name: str) -> str:
    """The dtype behind a name ("float32", "jax.numpy.bfloat16", "builtins.float"), as requested; "" for others."""
    last = name.rpartition(".")[2]
    last = _ALIASES.get(last, last)
    return last if last in _ABOVE else ""


def of_python(value: object) -> str:
    """The weak dtype of a Python number; "" for anything else."""
    return _WEAK.get(type(value).__name__, "")


def canonical_dtype(dtype: str) -> str:
    """The dtype without 64-bit types."""
    return _WITHOUT_X64.get(dtype, dtype)


def strong(dtype: str) -> str:
    """The dtype of a strong array for a weak dtype."""
    return {"int*": "int32", "float*": "float32", "complex*": "complex64"}.get(dtype, dtype)


@functools.cache
def _reachable(dtype: str) -> frozenset[str]:
    found = {dtype}
    for above in _ABOVE[dtype]:
        found |= _reachable(above)
    return frozenset(found)


@functools.cache
def _join(left: str, right: str) -> str:
    common = _reachable(left) & _reachable(right)
    least = [dtype for dtype in common if common <= _reachable(dtype)]
    return least[0] if least else ""


def promote(*dtypes: str, wide: bool = False) -> str:
    """The promotion of the operands' dtypes; "" if one is unknown. `wide`: with 64 bits, as in NumPy."""
    result = ""
    for dtype in dtypes:
        if dtype not in _ABOVE:
            return ""
        result = dtype if not result else _join(result, dtype)
    return result if wide else canonical_dtype(result)


def inexact(dtype: str) -> str:
    """The dtype of a function such as `exp` or a division: integers become float32."""
    if is_integer(dtype) or dtype == "bool":
        return "float*" if dtype == "int*" else "float32"
    return dtype


# -- result dtypes (short names, below jax.numpy, jax.lax, jax.nn, numpy)

_UNARY_INEXACT = """exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh
arccosh arctanh rsqrt logistic sigmoid gelu silu swish softmax log_softmax log_sigmoid
mean erf nanmean trapezoid median nanmedian logsumexp
acos acosh asin asinh atan atanh average cov deg2rad rad2deg degrees radians fabs i0 sinc reciprocal rint spacing ldexp
expit erfinv erfc gammaln digamma entr i0e i1 i1e logit gamma loggamma lgamma
squareplus standardize
jax.image.resize jax.scipy.linalg.expm jax.scipy.linalg.inv linalg.cholesky linalg.det linalg.inv linalg.pinv linalg.qr
flax.linen.avg_pool flax.nnx.avg_pool haiku.avg_pool"""
_FLOATS_ALONE = "elu celu selu leaky_relu hard_sigmoid hard_silu hard_swish hard_tanh mish relu relu6 soft_sign softplus sparse_plus sparse_sigmoid"
# The same, except that the absolute value of a complex number is real.
_UNARY_MEASURES = "std var nanstd nanvar norm linalg.eigvalsh linalg.matrix_norm linalg.vector_norm"
_SAME = """reshape transpose squeeze expand_dims broadcast_to ravel flip roll tile repeat moveaxis swapaxes rot90 pad
negative max min amax amin nanmax nanmin sort copy diagonal diag tril triu take glu
stop_gradient flatten clip round split array_split hsplit vsplit dsplit
around ceil floor trunc sign clamp conj conjugate diff erf_inv fliplr flipud index_in_dim matrix_transpose nan_to_num
permute_dims ptp reduce_and reduce_or reduce_xor reduce_max reduce_min reduce_prod reduce_precision rev
slice slice_in_dim dynamic_slice dynamic_slice_in_dim dynamic_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim
dynamic_update_index_in_dim take_along_axis unstack
atleast_1d atleast_2d atleast_3d broadcast collapse resize bitwise_not bitwise_invert clz population_count
shift_left shift_right_arithmetic shift_right_logical rem conv conv_general_dilated reduce_window unique
jax.ops.segment_sum jax.ops.segment_max jax.ops.segment_min jax.ops.segment_prod
optax.softmax_cross_entropy_with_integer_labels optax.losses.softmax_cross_entropy_with_integer_labels
fft.fftshift fft.ifftshift dot_product_attention einops.rearrange einops.reduce einops.repeat
flax.linen.max_pool flax.linen.min_pool flax.nnx.max_pool flax.nnx.min_pool haiku.max_pool
flax.linen.dot_product_attention flax.nnx.dot_product_attention"""
_MEASURES = "abs absolute real imag"
_PROMOTING = """add subtract multiply maximum minimum dot matmul vdot inner outer tensordot cross"""
_ALL_PROMOTING = """dot_general batch_matmul kron append einops.einsum jax.scipy.linalg.block_diag
optax.squared_error optax.losses.squared_error optax.l2_loss optax.losses.l2_loss
optax.kl_divergence optax.losses.kl_divergence optax.cosine_similarity optax.losses.cosine_similarity
optax.cosine_distance optax.losses.cosine_distance optax.softmax_cross_entropy optax.losses.softmax_cross_entropy
optax.sigmoid_binary_cross_entropy optax.losses.sigmoid_binary_cross_entropy"""
# Truth values become numbers.
_COUNTING = "power mod remainder floor_divide fmod square left_shift right_shift"
_INEXACT_PROMOTING = "divide true_divide arctan2 logaddexp hypot"
_ALL_INEXACT = (
    "jax.scipy.linalg.solve jax.scipy.linalg.solve_triangular linalg.solve interp convolve correlate"
)
_STRONG_INEXACT = "quantile percentile nanquantile nanpercentile"
_COMPLEX = (
    "complex fft.fft fft.fft2 fft.fftn fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.rfft fft.rfft2 fft.rfftn"
)
_FLOATS = "fft.hfft fft.irfft fft.irfft2 fft.irfftn fft.fftfreq fft.rfftfreq hanning"
_INDICES = "argmax argmin argsort flatnonzero nonzero searchsorted count_nonzero nanargmax nanargmin indices"
_BOOLEANS = """any all isnan isinf isfinite isclose allclose logical_and logical_or logical_not logical_xor equal
not_equal less less_equal greater greater_equal array_equal isin signbit isneginf isposinf isreal iscomplex"""
_LAX_BOOLEANS = "eq ge gt is_finite le lt ne"
TRUTH_FUNCTIONS = frozenset(_BOOLEANS.split())  # of `jax.numpy`, that return truth values
_SUMS = "sum prod nansum nanprod trace"
_RUNNING_SUMS = "cumsum cumprod nancumsum nancumprod"
_ELEMENTS = "concatenate stack hstack vstack column_stack dstack concat"
KINDS: dict[str, str] = {
    name: kind
    for kind, names in {
        "inexact": _UNARY_INEXACT,
        "inexact measure": _UNARY_MEASURES,
        "measure": _MEASURES,
        "floats": _FLOATS_ALONE,
        "promote all": _ALL_PROMOTING,
        "count": _COUNTING,
        "inexact all": _ALL_INEXACT,
        "strong inexact": _STRONG_INEXACT,
        "complex": _COMPLEX,
        "float32": _FLOATS,
        "uint8": "bitwise_count",
        "running sum": _RUNNING_SUMS,
        "same": _SAME,
        "promote": _PROMOTING,
        "inexact promote": _INEXACT_PROMOTING,
        "index": _INDICES,
        "tally": "bincount",
        "bool": f"{_BOOLEANS} {_LAX_BOOLEANS}",
        "sum": _SUMS,
        "elements": _ELEMENTS,
    }.items()
    for name in names.split()
}

# Their results are never weak, whatever the operands. Functions of jax.lax with the same names keep weakness.
STRONG_RESULTS = frozenset(
    """amax amin average cov cumprod cumsum deg2rad degrees diag diagonal gamma gelu log10 log2 log_softmax logit
    logsumexp max mean median min nan_to_num nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum
    nanvar prod ptp rad2deg radians sinc softmax spacing standardize std sum trace trapezoid var""".split()  # noqa: SIM905
)

# Functions of jax.lax that share the name of one in jax.numpy but return another dtype.
LAX_KINDS = {
    f"jax.lax.{name}": "same" for name in ("div", "reduce_sum", "cumsum", "cumprod", "cummax", "cummin")
}
LAX_KINDS["jax.lax.conj"] = "complex"
LAX_KINDS["jax.lax.reduce"] = "same"

# Functions that create arrays: the position of `dtype`, and the dtype without it ("value": that of the first
# argument, "fill": of the second, "numbers": integers unless an argument is a float).
MAKERS: dict[str, tuple[int, str]] = {
    "zeros": (1, "float32"),
    "ones": (1, "float32"),
    "empty": (1, "float32"),
    "eye": (3, "float32"),
    "identity": (1, "float32"),
    "tri": (3, "float32"),
    "linspace": (5, "float32"),
    "logspace": (5, "float32"),
    "full": (2, "fill"),
    "array": (1, "value"),
    "asarray": (1, "value"),
    "zeros_like": (1, "value"),
    "ones_like": (1, "value"),
    "empty_like": (1, "value"),
    "full_like": (2, "value"),
    "arange": (3, "numbers"),
    "one_hot": (99, "float32"),
}
# The same of flax.
FLAX_MAKERS: dict[str, tuple[int, str]] = {
    f"flax.{api}.{name}": (position, "float32")
    for api in ("linen", "nnx")
    for name, position in {"make_causal_mask": 2, "make_attention_mask": 4}.items()
}
# jax.random: the position of `dtype`. The other functions also draw float32, or integers.
RANDOM_MAKERS: dict[str, tuple[int, str]] = {
    "normal": (2, "float32"),
    "uniform": (2, "float32"),
    "truncated_normal": (4, "float32"),
    "exponential": (2, "float32"),
    "gumbel": (2, "float32"),
    "laplace": (2, "float32"),
    "logistic": (2, "float32"),
    "cauchy": (2, "float32"),
    "beta": (4, "float32"),
    "gamma": (3, "float32"),
    "dirichlet": (3, "float32"),
    "randint": (4, "int32"),
    "bernoulli": (99, "bool"),
    "categorical": (99, "int32"),
    "bits": (2, "uint32"),
    "rademacher": (2, "int32"),
    "maxwell": (2, "float32"),
    **dict.fromkeys(
        ("loggamma", "chisquare", "t", "pareto", "rayleigh", "wald", "lognormal"), (3, "float32")
    ),
    **dict.fromkeys(("generalized_normal", "orthogonal"), (3, "float32")),
    **dict.fromkeys(("f", "weibull_min", "double_sided_maxwell", "ball", "binomial"), (4, "float32")),
    **dict.fromkeys(("poisson", "geometric"), (3, "int32")),
    "triangular": (5, "float32"),
    "permutation": (99, "second"),
    "choice": (99, "second"),
}
