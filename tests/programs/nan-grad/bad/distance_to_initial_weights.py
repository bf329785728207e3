# source: jax-ml/jax#3058
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


def proximal(params, anchor, strength):
    gap = sum(jnp.sum((p - a) ** 2) for p, a in zip(jax.tree.leaves(params), jax.tree.leaves(anchor)))
    return strength * jnp.sqrt(gap)  # finding


def objective(params, anchor, x):
    return jnp.mean((x @ params["w"]) ** 2) + proximal(params, anchor, 0.1)


@jax.jit
def first_step(params, x):
    anchor = params
    grads = jax.grad(objective)(params, anchor, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


if __name__ == "__main__":
    print(first_step({"w": jnp.ones(3)}, jnp.ones((2, 3))))
