# source: jax-ml/jax#21825

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Assignment(NamedTuple):
    labels: jax.Array
    inertia: jax.Array


def assign(points, centres):
    dist = jnp.sum((points[:, None] - centres[None]) ** 2, -1)
    return Assignment(dist.argmin(1), dist.min(1).sum())


@jax.jit
def lloyd_step(points, centres, previous):
    current = assign(points, centres)
    if current == previous:  # finding
        return centres, current
    onehot = jax.nn.one_hot(current.labels, centres.shape[0])
    return (onehot.T @ points) / (onehot.sum(0)[:, None] + 1e-9), current


def fit(points, k, iterations=5):
    centres = points[:k]
    state = assign(points, centres)
    for _ in range(iterations):
        centres, state = lloyd_step(points, centres, state)
    return centres, state.inertia


print(fit(jax.random.normal(jax.random.key(0), (50, 2)), 3))
