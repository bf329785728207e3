# blind: eleventh

"""The learning rate of each step is a static argument."""
from functools import partial

import jax
import jax.numpy as jnp


def warmup_cosine(step, peak, warmup, total):
    import math

    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / (total - warmup)
    return 0.5 * peak * (1 + math.cos(math.pi * progress))


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] - y) ** 2)


@partial(jax.jit, static_argnames=("lr", "momentum"), donate_argnums=(0, 1))
def sgd_step(params, velocity, x, y, lr, momentum=0.9):
    grads = jax.grad(loss_fn)(params, x, y)
    velocity = jax.tree.map(lambda v, g: momentum * v - lr * g, velocity, grads)
    return jax.tree.map(jnp.add, params, velocity), velocity


def train(params, data, total=300):
    velocity = jax.tree.map(jnp.zeros_like, params)
    for step in range(total):
        x, y = data[step % len(data)]
        lr = warmup_cosine(step, 0.1, 20, total)
        params, velocity = sgd_step(params, velocity, x, y, lr=lr)  # finding
    return params


if __name__ == "__main__":
    params = {"w1": jnp.ones((3, 8)) * 0.1, "b1": jnp.zeros(8), "w2": jnp.ones(8)}
    train(params, [(jnp.ones((4, 3)), jnp.ones(4))], 5)
