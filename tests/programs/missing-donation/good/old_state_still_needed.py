# source: jax-ml/jax#9675

import jax
import jax.numpy as jnp


@jax.jit
def propose(params, grads, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


@jax.jit
def loss_and_grad(params, x):
    return jax.value_and_grad(lambda p: jnp.sum(jnp.cosh(x @ p["w"])) + p["b"] ** 2)(params)


def line_search(params, x, lr=1.0, rounds=6):
    """Backtracking needs the old parameters after each proposal."""
    base, grads = loss_and_grad(params, x)
    candidates = [propose(params, grads, lr * 0.5**i) for i in range(rounds)]
    losses = jnp.stack([loss_and_grad(c, x)[0] for c in candidates])
    best = jnp.argmin(losses)
    return jax.tree.map(lambda *c: jnp.stack(c)[best], *candidates), base


if __name__ == "__main__":
    print(line_search({"w": jnp.ones(3), "b": jnp.ones(())}, jnp.ones((4, 3)))[0])
