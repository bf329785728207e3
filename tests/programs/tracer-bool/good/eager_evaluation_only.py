# source: jax-ml/jax#2161
# blind: first

import jax
import jax.numpy as jnp


def check_finite(tree, what):
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        if not jnp.all(jnp.isfinite(leaf)):
            raise FloatingPointError(f"{what}{jax.tree_util.keystr(path)} is not finite")


@jax.jit
def grads(params, x):
    return jax.grad(lambda p: jnp.sum((x @ p["w"]) ** 2))(params)


def main():
    params = {"w": jnp.ones(3)}
    g = grads(params, jnp.ones((2, 3)))
    check_finite(g, "grads")
    if max(float(jnp.abs(v).max()) for v in g.values()) > 1e3:
        print("large")


main()
