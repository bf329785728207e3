"""Values for arguments with known shapes only."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_GENERATORS = ("threefry2x32", "rbg", "unsafe_rbg")


def is_shape(leaf: Any) -> bool:
    """Whether a leaf is a shape and a dtype without values."""
    return isinstance(leaf, jax.ShapeDtypeStruct)


def any_shapes(tree: Any) -> bool:
    """Whether part of a tree has no values."""
    return any(is_shape(leaf) for leaf in jax.tree.leaves(tree, is_leaf=is_shape))


def drawn(tree: Any, seed: int, positive: bool = False) -> Any:
    """The tree with values in place of shapes.

    Floating values are normal, those of matrices divided by the square root of their number of rows, so that products
    neither grow nor vanish. With `positive` they are uniform between 0 and 1, as variances must be. Integers are 0 or
    1, which is a valid index into any axis with more than one element.
    """
    leaves, structure = jax.tree.flatten(tree, is_leaf=is_shape)
    random = np.random.default_rng(seed)
    values = [_draw(leaf, random, positive) if is_shape(leaf) else leaf for leaf in leaves]
    return jax.tree.unflatten(structure, values)


def _draw(shape: jax.ShapeDtypeStruct, random: np.random.Generator, positive: bool) -> Any:
    dtype = shape.dtype
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        seed = int(random.integers(0, 2**31))
        keys = (jax.random.key(seed, impl=name) for name in _GENERATORS)
        key = next((key for key in keys if key.dtype == dtype), jax.random.key(seed))
        return jax.random.split(key, shape.shape) if shape.shape else key
    if jnp.issubdtype(dtype, jnp.bool_):
        return jnp.asarray(random.integers(0, 2, size=shape.shape, dtype=np.int8) != 0)
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.asarray(random.integers(0, 2, size=shape.shape, dtype=np.int8), dtype=dtype)
    scale = 1.0 / np.sqrt(max(1, shape.shape[-2])) if len(shape.shape) > 1 else 1.0

    def real() -> np.ndarray:
        if positive:
            return random.random(shape.shape, dtype=np.float32) * np.float32(scale)
        return random.standard_normal(shape.shape, dtype=np.float32) * np.float32(scale)

    values = real()
    if jnp.issubdtype(dtype, jnp.complexfloating):
        values = values + 1j * real()
    return jnp.asarray(values).astype(dtype)


def finite(tree: Any) -> bool:
    """Whether all floating leaves are finite."""
    return all(
        bool(jnp.isfinite(leaf).all())
        for leaf in jax.tree.leaves(tree)
        if isinstance(leaf, jax.Array)
        and (jnp.issubdtype(leaf.dtype, jnp.floating) or jnp.issubdtype(leaf.dtype, jnp.complexfloating))
    )
