# source: google-deepmind/optax#1059
# blind: fifth

import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def schedule_free_step(z, average, t, x, y, lr=0.1, beta=0.9):
    probe = jax.tree.map(lambda a, b: (1 - beta) * a + beta * b, z, average)
    grads = jax.grad(loss)(probe, x, y)
    z = jax.tree.map(lambda p, g: p - lr * g, z, grads)
    average = jax.tree.map(lambda a, p: a + (p - a) / (t + 1), average, z)
    return z, average


step = jax.jit(schedule_free_step, donate_argnums=(0, 1))


def optimise(params, x, y, n):
    z, average = params, params
    for t in range(n):
        z, average = step(z, average, t, x, y)  # finding
    return average


if __name__ == "__main__":
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    print(optimise(params, jnp.ones((8, 3)), jnp.ones(8), 4))
