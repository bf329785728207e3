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
    z = jax.tree.map(jnp.copy, params)
    average = jax.tree.map(jnp.copy, params)
    kept = []
    for t in range(n):
        if t % 2 == 0:
            kept.append(jax.device_get(average))
        z, average = step(z, average, t, x, y)
    return average, kept, params


if __name__ == "__main__":
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    print(optimise(params, jnp.ones((8, 3)), jnp.ones(8), 4)[0])
