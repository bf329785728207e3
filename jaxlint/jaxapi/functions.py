"""The results of array functions, by canonical name.

Checked against the installed libraries by `tests/engine/test_jaxapi_tables.py`.
"""

from __future__ import annotations

# The old and new names of the function that maps another over the leaves of trees.
TREE_MAPS = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"})

# Functions under the array prefixes that do not return an array made from their arguments.
STATIC_FUNCTIONS = frozenset(
    {
        *(
            f"jax.numpy.{name}"
            for name in [
                "shape",
                "ndim",
                "size",
                "issubdtype",
                "result_type",
                "promote_types",
                "can_cast",
                "finfo",
                "iinfo",
                "dtype",
                "isscalar",
                "broadcast_shapes",
                "set_printoptions",
                "printoptions",
                "get_printoptions",
                "iscomplexobj",
                "isrealobj",
                "save",
                "savez",
                "einsum_path",
                "isdtype",
                "iterable",
                "array_repr",
                "array_str",
            ]
        ),
        *(
            f"jax.{name}"
            for name in [
                "default_backend",
                "devices",
                "local_devices",
                "device_count",
                "local_device_count",
                "process_index",
                "process_count",
                "process_indices",
                "host_id",
                "host_count",
                "named_scope",
                "typeof",
                "clear_caches",
                "make_mesh",
                "set_mesh",
                "ensure_compile_time_eval",
                "disable_jit",
                "debug_nans",
                "check_tracer_leaks",
            ]
        ),
        *(
            f"jax.lax.{name}"
            for name in [
                "axis_size",
                "dtype",
                "broadcast_shapes",
                "conv_dimension_numbers",
                "padtype_to_pads",
                "conv_transpose_shape_tuple",
                "conv_general_permutations",
                "conv_shape_tuple",
                "reduce_window_shape_tuple",
                "conv_general_shape_tuple",
                "shape_as_value",
                "dce_sink",
            ]
        ),
        "jax.random.key_impl",
        "jax.random.key_dtype",
        "jax.tree.structure",
        "jax.core.is_concrete",
        "jax.dtypes.canonicalize_dtype",
        "jax.dtypes.issubdtype",
        "jax.dtypes.result_type",
        "jax.dtypes.finfo",
        "jax.eval_shape",
    }
)

# Everything else with these prefixes counts as returning an array (or a pytree of arrays).
ARRAY_PREFIXES = (
    "jax.numpy.",
    "jax.lax.",
    "jax.nn.",
    "jax.scipy.",
    "jax.random.",
    "jax.image.",
    "jax.ops.",
    "optax.losses.",
    "optax.projections.",
    "rlax.",
)

# Initializers that are called with a key and a shape; the others in their modules return such functions.
INITIALIZERS = frozenset(
    f"{module}.initializers.{name}" for module in ("jax.nn", "flax.linen") for name in ("zeros", "ones")
)

# Members with these prefixes that create something other than arrays: functions, objects, settings.
NOT_ARRAYS = (
    "jax.nn.initializers.",
    "jax.scipy.optimize.",
    "jax.scipy.stats.gaussian_kde",
    "jax.nn.get_scaled_dot_general_config",
    "jax.lax.composite",
    "jax.numpy.frompyfunc",
    "jax.numpy.ufunc",
    "jax.numpy.vectorize",
)

# Numbers and `None` among the members of the prefixes.
NUMBERS = frozenset(
    f"{module}.{name}"
    for module in ("jax.numpy", "numpy", "math")
    for name in ["pi", "e", "inf", "nan", "tau" if module == "math" else "euler_gamma"]
)
CONSTANTS = NUMBERS | {"jax.numpy.newaxis"}
TYPES = frozenset(
    {
        "jax.Array",
        "jax.numpy.ndarray",
        "jax.numpy.generic",
        "jax.ShapeDtypeStruct",
        "jax.core.Tracer",
        "jax.core.ShapedArray",
        "jax.numpy.floating",
        "jax.numpy.integer",
        "jax.numpy.inexact",
        "jax.numpy.number",
        "jax.numpy.complexfloating",
        "jax.numpy.signedinteger",
        "jax.numpy.unsignedinteger",
        "jax.numpy.character",
        "jax.numpy.flexible",
        "jax.numpy.object_",
    }
)

# Functions with array prefixes that return a list or tuple of arrays for any arguments.
LISTS_OF_ARRAYS = frozenset(
    {
        *(f"jax.numpy.{name}" for name in ["split", "array_split", "hsplit", "vsplit", "dsplit"]),
        "jax.numpy.top_k",
        *(f"jax.lax.{name}" for name in ["split", "top_k", "approx_max_k", "approx_min_k"]),
        *(f"jax.lax.linalg.{name}" for name in ["eig", "schur"]),
    }
)
TUPLES_OF_ARRAYS = frozenset(
    {
        *(
            f"jax.numpy.{name}"
            for name in [
                "broadcast_arrays",
                "diag_indices",
                "diag_indices_from",
                "divmod",
                "frexp",
                "histogram",
                "histogram2d",
                "ix_",
                "mask_indices",
                "meshgrid",
                "minmax",
                "modf",
                "nonzero",
                "polydiv",
                "tril_indices",
                "tril_indices_from",
                "triu_indices",
                "triu_indices_from",
                "unravel_index",
                "unique_all",
                "unique_counts",
                "unique_inverse",
                "unstack",
                "linalg.eig",
                "linalg.eigh",
                "linalg.lstsq",
                "linalg.qr",
                "linalg.slogdet",
                "linalg.svd",
            ]
        ),
        *(f"jax.lax.{name}" for name in ["rng_bit_generator", "sort_key_val", "unstack"]),
        *(
            f"jax.lax.linalg.{name}"
            for name in ["eigh", "hessenberg", "lu", "qdwh", "qr", "svd", "tridiagonal"]
        ),
        *(
            f"jax.scipy.{name}"
            for name in [
                "linalg.cho_factor",
                "linalg.eigh",
                "linalg.expm_frechet",
                "linalg.lu",
                "linalg.lu_factor",
                "linalg.polar",
                "linalg.qr",
                "linalg.qr_multiply",
                "linalg.rsf2csf",
                "linalg.schur",
                "signal.csd",
                "signal.istft",
                "signal.stft",
                "signal.welch",
                "special.fresnel",
                "special.sici",
                "linalg.svd",
                "stats.mode",
            ]
        ),
    }
)

# Functions that return one array or several, depending on their arguments. With these options, or on several
# operands, even that is unknown.
TREES_OF_ARRAYS = frozenset(
    {
        "jax.numpy.gradient",
        "jax.numpy.histogramdd",
        "jax.lax.custom_linear_solve",
        "jax.lax.custom_root",
        "jax.lax.platform_dependent",
    }
)
SEVERAL_BY_MODE = frozenset(
    f"jax.{where}.{name}"
    for where in ("numpy.linalg", "scipy.linalg")
    for name in ("qr", "qr_multiply", "rq")
)  # in other functions `mode` has another meaning
SEVERAL_RESULTS = frozenset(
    [
        "compute_left_eigenvectors",
        "compute_right_eigenvectors",
        "compute_uv",
        "cov",
        "eigvals_only",
        "full",
        "permute_l",
        "return_counts",
        "return_index",
        "return_indices",
        "return_inverse",
        "returned",
        "sparse",
    ]
)
MANY_IN_MANY_OUT = frozenset(
    {
        *(f"jax.numpy.atleast_{dimensions}d" for dimensions in (1, 2, 3)),
        *(
            f"jax.lax.{name}"
            for name in ["optimization_barrier", "reduce", "reduce_window", "sort", "stop_gradient"]
        ),
    }
)

# Functions that work on each leaf of a tree; the first ones leave Python numbers unchanged.
NUMBER_KEEPING_COLLECTIVES = frozenset(f"jax.lax.{name}" for name in ["psum", "pmean", "pmax", "pmin"])
COLLECTIVES = NUMBER_KEEPING_COLLECTIVES | frozenset(
    f"jax.lax.{name}"
    for name in [
        "all_gather",
        "all_to_all",
        "pcast",
        "ppermute",
        "psum_scatter",
        "pshuffle",
        "pswapaxes",
        "pvary",
    ]
)

# optax functions that return arrays or trees of arrays (the others build optimisers and schedules).
OPTAX_ARRAYS = frozenset(
    f"optax.{name}"
    for name in [
        "apply_updates",
        "incremental_update",
        "periodic_update",
        "global_norm",
        "softmax_cross_entropy",
        "l2_loss",
        "huber_loss",
        "softmax_cross_entropy_with_integer_labels",
        "sigmoid_binary_cross_entropy",
        "squared_error",
        "cosine_distance",
        "cosine_similarity",
        "log_cosh",
        "smooth_labels",
        "ctc_loss",
        "hinge_loss",
        "kl_divergence",
        "safe_norm",
        "safe_root_mean_squares",
        "safe_increment",
        "safe_int32_increment",
    ]
)

# Functions beside the layers of flax and haiku that return an array.
LAYER_ARRAYS = frozenset(
    {
        *(
            f"{package}.{name}"
            for package in ("flax.linen", "flax.nnx")
            for name in [
                "avg_pool",
                "max_pool",
                "dot_product_attention",
                "make_attention_mask",
                "make_causal_mask",
            ]
        ),
        "flax.linen.dot_product_attention_weights",
        "flax.nnx.min_pool",
        "haiku.avg_pool",
        "haiku.max_pool",
        "haiku.multinomial",
        "haiku.one_hot",
    }
)

# NumPy functions that call the method of the same name on their argument: they work on tracers.
NUMPY_DISPATCHES = frozenset(
    f"numpy.{name}"
    for name in [
        "sum",
        "prod",
        "mean",
        "max",
        "min",
        "amax",
        "amin",
        "any",
        "all",
        "std",
        "var",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
        "reshape",
        "transpose",
        "squeeze",
        "repeat",
        "swapaxes",
        "argsort",
        "round",
        "around",
        "real",
        "imag",
        "split",
        "array_split",
        "hsplit",
        "vsplit",
        "flip",
        "moveaxis",
        "permute_dims",
        "rollaxis",
        "unstack",
        "isreal",
        "searchsorted",
        "take_along_axis",
    ]
)

# NumPy functions that only read static properties of their argument, or return False if it has no numbers.
NUMPY_METADATA = frozenset(
    f"numpy.{name}"
    for name in [
        "shape",
        "ndim",
        "size",
        "result_type",
        "common_type",
        "iscomplexobj",
        "isrealobj",
        "diag_indices_from",
        "tril_indices_from",
        "triu_indices_from",
        "array_equal",
        "array_equiv",
    ]
)

# NumPy functions that create a new, writable array.
NUMPY_FRESH = frozenset(
    f"numpy.{name}"
    for name in [
        "zeros",
        "ones",
        "empty",
        "full",
        "array",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "arange",
        "linspace",
        "copy",
    ]
)

# Functions whose result never shares a buffer with an argument: they fill an array, or compute each element.
# (`asarray`, `reshape`, `astype`, `x[:]`, `concatenate` of one array, `full` of an array, `ceil` of integers may
# return their argument.)
MAKES_NEW_ARRAYS = frozenset(
    f"jax.numpy.{name}"
    for name in """
        zeros ones empty arange linspace logspace geomspace eye identity tri
        zeros_like ones_like empty_like
        add subtract multiply divide true_divide floor_divide maximum minimum negative square sqrt cbrt reciprocal
        exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh arcsin arccos arctan arctan2 where
        dot matmul vdot inner outer tensordot
    """.split()  # noqa: SIM905
)
# The same holds for all functions that draw, except these, which handle keys.
RANDOM_HANDS_ON = frozenset(f"jax.random.{name}" for name in ("clone", "key_data", "wrap_key_data"))
# New if the fill value is a number.
FILLING = frozenset({"jax.numpy.full", "jax.numpy.full_like"})


# Functions that return a JAX array as a NumPy array on the same memory, which is read-only.
NUMPY_VIEWS = frozenset({"numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"})

# Functions of NumPy and Python that modify their first argument.
IN_PLACE_FUNCTIONS = frozenset(
    {
        *(
            f"numpy.{name}"
            for name in ("copyto", "fill_diagonal", "place", "put", "putmask", "put_along_axis")
        ),
        *(f"numpy.{name}.at" for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")),
        "numpy.random.shuffle",
        "random.shuffle",
    }
)


# jax.random: functions that create keys.
KEY_MAKERS = frozenset({"jax.random.key", "jax.random.PRNGKey", "jax.random.wrap_key_data"})


def returns_array(name: str) -> bool:
    """Whether the external function `name` (canonical) returns an array or a pytree of arrays."""
    if name in OPTAX_ARRAYS or name in LAYER_ARRAYS or name in INITIALIZERS:
        return True
    if not name.startswith(ARRAY_PREFIXES) or "._" in name:  # private functions there may return anything
        return False
    if name in STATIC_FUNCTIONS or name in TYPES or name in CONSTANTS or name.startswith(NOT_ARRAYS):
        return False
    return name in KEY_MAKERS or not name.rpartition(".")[2][:1].isupper()  # `jax.lax.Precision` is a type


# Progress bars: what iterates over one gets the items of its first argument.
PROGRESS_BARS = frozenset(
    """tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.rich.tqdm tqdm.std.tqdm tqdm.autonotebook.tqdm rich.progress.track
    fastprogress.progress_bar fastprogress.fastprogress.progress_bar progressbar.progressbar alive_progress.alive_it""".split()  # noqa: SIM905
)
PROGRESS_RANGES = frozenset({"tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"})
LOGGER_MAKERS = frozenset({"logging.getLogger", "absl.logging.get_absl_logger"})
