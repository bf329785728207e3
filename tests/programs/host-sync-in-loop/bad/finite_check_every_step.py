# source: jax-ml/jax#1897

import jax
import jax.numpy as jnp


def all_finite(tree):
    return all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(tree))  # finding-also


@jax.jit
def grad_step(params, batch):
    grads = jax.grad(lambda p: jnp.mean(jnp.exp(batch @ p["w"]) + p["b"] ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), grads


def train(params, batches):
    skipped = 0
    for batch in batches:
        new_params, grads = grad_step(params, batch)
        if not all_finite(grads):  # finding
            skipped += 1
            continue
        params = new_params
    return params, skipped


if __name__ == "__main__":
    print(train({"w": jnp.ones(3), "b": jnp.ones(())}, [jnp.ones((4, 3))] * 4))
