"""The arguments that functions of JAX and optax accept, where they raise for all others.

Checked against the installed libraries by `tests/engine/test_jaxapi_accepted.py`.
"""

from __future__ import annotations

from jaxlint.jaxapi.dtypes import RANDOM_MAKERS

INTEGERS, FLOATS, BITS, KEY = "integers", "floats", "integers or bools", "a PRNG key"

# The arguments by position and keyword, and the required kind of each. Weakly typed integers are accepted as well.
ACCEPTED: dict[str, tuple[tuple[int, str, str], ...]] = {
    # Weighted `choice` and the like draw from their own names; all take the key first.
    **{
        f"jax.random.{name}": ((0, "key", KEY),)
        for name in (*RANDOM_MAKERS, "split", "fold_in", "choice", "multivariate_normal")
    },
    "jax.random.bernoulli": ((0, "key", KEY), (1, "p", FLOATS)),
    "jax.random.categorical": ((0, "key", KEY), (1, "logits", FLOATS)),
    "jax.numpy.take": ((1, "indices", INTEGERS),),
    "jax.numpy.take_along_axis": ((1, "indices", INTEGERS),),
    "jax.numpy.bincount": ((0, "x", INTEGERS),),
    "jax.numpy.gcd": ((0, "x1", INTEGERS), (1, "x2", INTEGERS)),
    "jax.numpy.lcm": ((0, "x1", INTEGERS), (1, "x2", INTEGERS)),
    **{
        f"jax.numpy.{name}": ((0, "x", BITS), (1, "y", BITS))
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
    },
    "jax.numpy.bitwise_not": ((0, "x", BITS),),
    "jax.lax.switch": ((0, "index", INTEGERS),),
    "jax.lax.select": ((0, "pred", BITS),),
    "jax.lax.dynamic_index_in_dim": ((1, "index", INTEGERS),),
    "jax.lax.dynamic_slice_in_dim": ((1, "start_index", INTEGERS),),
    "jax.lax.dynamic_update_slice_in_dim": ((2, "start_index", INTEGERS),),
    "jax.lax.dynamic_update_index_in_dim": ((2, "index", INTEGERS),),
    "jax.lax.population_count": ((0, "x", INTEGERS),),
    **{
        f"jax.lax.{name}": ((0, "x", FLOATS),)
        for name in """acos acosh asin asinh atan atanh cbrt ceil cos cosh digamma erf erf_inv erfc exp exp2 expm1 floor
        is_finite lgamma log log1p logistic round rsqrt sin sinh sqrt tan tanh""".split()  # noqa: SIM905
    },
    **{
        f"jax.ops.{name}": ((1, "segment_ids", INTEGERS),)
        for name in ("segment_sum", "segment_max", "segment_min", "segment_prod")
    },
    "optax.softmax_cross_entropy_with_integer_labels": ((0, "logits", FLOATS), (1, "labels", INTEGERS)),
    "optax.softmax_cross_entropy": ((0, "logits", FLOATS),),
    "optax.sigmoid_binary_cross_entropy": ((0, "logits", FLOATS),),
    "optax.l2_loss": ((0, "predictions", FLOATS),),
    "optax.squared_error": ((0, "predictions", FLOATS),),
    "optax.huber_loss": ((0, "predictions", FLOATS),),
    "optax.log_cosh": ((0, "predictions", FLOATS),),
    "optax.cosine_similarity": ((0, "predictions", FLOATS),),
}

# These raise ValueError, all others TypeError.
WITH_VALUE_ERROR = frozenset({"jax.numpy.take", "jax.numpy.gcd", "jax.numpy.lcm", "jax.random.categorical"})

# Functions of `jax.lax` that convert nothing: the arrays at these positions need one dtype.
ONE_DTYPE: dict[str, tuple[int, ...]] = {
    **{
        f"jax.lax.{name}": (0, 1)
        for name in "add atan2 div dynamic_update_slice eq ge gt le lt max min mul ne rem sub".split()  # noqa: SIM905
    },
    "jax.lax.clamp": (0, 1, 2),
    "jax.lax.pad": (0, 1),
    "jax.lax.select": (1, 2),
}

# Operators, by their name as operations of arrays.
OPERATORS: dict[str, str] = {
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"), BITS),
    "invert": BITS,
}
