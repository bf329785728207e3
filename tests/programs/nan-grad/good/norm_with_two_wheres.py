# source: jax-ml/jax#5798
# blind: first

import jax
import jax.numpy as jnp


def distances(r):
    dr = r[:, None] - r[None]
    same = jnp.eye(r.shape[0], dtype=bool)
    sq = jnp.where(same, 1.0, jnp.sum(dr**2, axis=-1))
    return jnp.where(same, 0.0, jnp.sqrt(sq))


def entropy(probs):
    safe = jnp.where(probs > 0, probs, 1.0)
    return -jnp.sum(probs * jnp.log(safe))


if __name__ == "__main__":
    r = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    print(jax.grad(lambda r: distances(r).sum())(r), jax.grad(entropy)(jnp.array([0.5, 0.5, 0.0])))
