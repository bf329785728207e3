# blind: ninth

import jax
import jax.numpy as jnp


def loss(p, x):
    return jnp.mean((x @ p["w"]) ** 2)


@jax.jit
def trial(params, x, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, jax.grad(loss)(params, x))


def line_search(params, x):
    best, best_loss = params, loss(params, x)
    for lr in (0.3, 0.1, 0.03):
        candidate = trial(params, x, lr)
        value = loss(candidate, x)
        if value < best_loss:
            best, best_loss = candidate, value
    return best


if __name__ == "__main__":
    print(line_search({"w": jnp.ones((64, 64))}, jnp.ones((8, 64)))["w"][0, 0])
