"""Arguments of array functions that must be static, and functions whose result has a data-dependent size."""

from __future__ import annotations

# Where a value must be static: function -> (positions, keywords). A shape may be a tuple that contains the value.
SHAPE_ARGUMENTS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    **{f"jax.numpy.{name}": ((0,), ("shape",)) for name in ("zeros", "ones", "empty", "full")},
    **{
        f"jax.numpy.{name}": ((), ("shape",))
        for name in ("zeros_like", "ones_like", "full_like", "empty_like")
    },
    "jax.numpy.eye": ((0, 1), ("N", "M")),
    "jax.numpy.identity": ((0,), ("n",)),
    "jax.numpy.tri": ((0, 1), ("N", "M")),
    "jax.numpy.arange": ((0, 1, 2), ("start", "stop", "step")),
    "jax.numpy.linspace": ((2,), ("num",)),
    "jax.numpy.logspace": ((2,), ("num",)),
    "jax.numpy.geomspace": ((2,), ("num",)),
    "jax.numpy.reshape": ((1,), ("shape", "newshape")),
    "jax.numpy.broadcast_to": ((1,), ("shape",)),
    "jax.numpy.tile": ((1,), ("reps",)),
    "jax.numpy.indices": ((0,), ("dimensions",)),
    "jax.nn.one_hot": ((1,), ("num_classes",)),
    "jax.lax.broadcast": ((1,), ("sizes",)),
    "jax.lax.iota": ((1,), ("size",)),
    "jax.lax.broadcasted_iota": ((1,), ("shape",)),
    "jax.lax.dynamic_slice": ((2,), ("slice_sizes",)),
    "jax.lax.dynamic_slice_in_dim": ((2,), ("slice_size",)),
    "jax.lax.reshape": ((1,), ("new_sizes",)),
    "jax.lax.full": ((0,), ("shape",)),
    "jax.lax.top_k": ((1,), ("k",)),
    "jax.random.split": ((1,), ("num",)),
    **{
        f"jax.random.{name}": ((1,), ("shape",))
        for name in [
            "normal",
            "uniform",
            "randint",
            "bits",
            "exponential",
            "gumbel",
            "laplace",
            "logistic",
            "cauchy",
            "rademacher",
            "maxwell",
        ]
    },
    "jax.random.bernoulli": ((2,), ("shape",)),
    "jax.random.truncated_normal": ((3,), ("shape",)),
    "jax.random.multivariate_normal": ((3,), ("shape",)),
    "jax.random.choice": ((2,), ("shape",)),
    "jax.random.categorical": ((), ("shape",)),
    "jax.random.gamma": ((2,), ("shape",)),
    "jax.random.beta": ((3,), ("shape",)),
    "jax.random.dirichlet": ((2,), ("shape",)),
    "jax.random.poisson": ((2,), ("shape",)),
}

# Other numbers that must be static: sections, offsets, axes. `axis=` is one in every function.
STATIC_NUMBERS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    **{
        f"jax.numpy.{name}": ((1,), ("indices_or_sections",))
        for name in ("split", "array_split", "hsplit", "vsplit", "dsplit")
    },
    **{f"jax.numpy.{name}": ((1,), ("k",)) for name in ("diag", "tril", "triu")},
    **{f"jax.numpy.{name}": ((0,), ("n",)) for name in ("tril_indices", "triu_indices", "diag_indices")},
    **{f"jax.numpy.{name}": ((0,), ("M",)) for name in ("hanning", "hamming", "blackman", "bartlett")},
    **{
        f"jax.numpy.{name}": ((1,), ("axis",))
        for name in [
            *(
                "expand_dims",
                "squeeze",
                "flip",
                "sum",
                "prod",
                "mean",
                "std",
                "var",
                "max",
                "min",
                "all",
                "any",
            ),
            *(
                "argmax",
                "argmin",
                "argsort",
                "sort",
                "cumsum",
                "cumprod",
                "median",
                "concatenate",
                "stack",
                "ptp",
            ),
        ]
    },
    **{f"jax.nn.{name}": ((1,), ("axis",)) for name in ("softmax", "log_softmax", "logsumexp")},
    **{f"jax.numpy.{name}": ((2,), ("axis",)) for name in ("take", "roll", "quantile", "percentile")},
    "jax.numpy.pad": ((1,), ("pad_width",)),
    "jax.numpy.vander": ((1,), ("N",)),
    "jax.numpy.moveaxis": ((1, 2), ("source", "destination")),
    "jax.numpy.swapaxes": ((1, 2), ("axis1", "axis2")),
    "jax.numpy.transpose": ((1,), ("axes",)),
}

# Functions whose result size is a traced argument, unless an option sets it: function -> (position, keyword, option).
SIZED_BY_DATA: dict[str, tuple[int, str, str]] = {
    "jax.numpy.repeat": (1, "repeats", "total_repeat_length"),
    "jax.numpy.bincount": (0, "x", "length"),
    **{
        f"jax.ops.segment_{name}": (1, "segment_ids", "num_segments")
        for name in ("sum", "prod", "max", "min")
    },
}

# Functions whose result has a data-dependent shape: they raise under a trace unless `size` is given.
DATA_DEPENDENT = frozenset(
    f"jax.numpy.{name}"
    for name in [
        "argwhere",
        "compress",
        "extract",
        "flatnonzero",
        "intersect1d",
        "nonzero",
        "setdiff1d",
        "setxor1d",
        "union1d",
        "unique",
        "unique_all",
        "unique_counts",
        "unique_inverse",
        "unique_values",
    ]
)
