# source: jax-ml/jax#15798
# blind: second

import jax
import jax.numpy as jnp


def safe_norm(v):
    squared = jnp.sum(v**2, axis=-1)
    positive = squared > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, 1.0)), 0.0)


def angle(a, b):
    return 2 * jnp.arctan2(safe_norm(a - b), safe_norm(a + b))


def loss(q, targets):
    return jnp.mean(angle(q, targets) ** 2)


if __name__ == "__main__":
    q = jnp.array([[1.0, 0.0], [0.0, 1.0]])
    grads = jax.jit(jax.grad(loss))(q, q)
    assert bool(jnp.all(jnp.isfinite(grads)))
