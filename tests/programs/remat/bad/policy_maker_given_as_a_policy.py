# source: jax-ml/jax#13756
# blind: fifth

import functools

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name


@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.save_only_these_names)  # finding
def block(w, x):
    h = checkpoint_name(jnp.sin(x @ w["a"]), "hidden")
    return x + jnp.cos(h @ w["b"])


def loss(weights, x):
    for w in weights:
        x = block(w, x)
    return jnp.sum(x**2)


@jax.jit
def update(weights, x):
    grads = jax.grad(loss)(weights, x)
    return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, grads)


if __name__ == "__main__":
    weights = [{"a": jnp.eye(8), "b": jnp.eye(8)} for _ in range(4)]
    new = update(weights, jnp.ones((4, 8)))
    print(new[0]["a"].sum())
