# source: jax-ml/jax#2173
# blind: first

import functools

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def perturb(tree, scale):
    return jax.tree.map(lambda p: p + scale * rng.normal(size=p.shape), tree)  # finding


@functools.partial(jax.jit, donate_argnums=0)
def sgld(params, x, lr):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
    params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    return perturb(params, 0.01)


if __name__ == "__main__":
    p = {"w": jnp.ones(3)}
    for _ in range(3):
        p = sgld(p, jnp.ones((2, 3)), 0.1)
    print(p)
