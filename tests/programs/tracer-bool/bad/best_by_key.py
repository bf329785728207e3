# source: jax-ml/jax#16430

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Candidate:
    params: jax.Array
    score: jax.Array


def refine(params, scale, data):
    moved = params - scale * jax.grad(lambda p: jnp.mean((data @ p) ** 2))(params)
    return Candidate(moved, jnp.mean((data @ moved) ** 2))


@jax.jit
def search(params, data):
    candidates = [refine(params, scale, data) for scale in (0.01, 0.1, 1.0)]
    best = min(candidates, key=lambda c: c.score)  # finding
    return best.params


params = jnp.ones(3)
for _ in range(3):
    params = search(params, jnp.eye(3))
print(params)
