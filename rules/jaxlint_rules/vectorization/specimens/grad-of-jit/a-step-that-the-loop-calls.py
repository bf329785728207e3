# a step by hand that the loop calls, and steps that are compiled, short or told as an optimizer's

import jax
import jax.numpy as jnp
import optax

optimizer = optax.sgd(0.1)


def loss(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2)


def update(params, x, y, lr=0.1):
    grads = jax.grad(loss)(params, x, y)  # finding
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def compiled(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def by_optimiser(params, state, x, y):
    grads = jax.grad(loss)(params, x, y)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


def short(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def sensitivity(params, x, y):
    return jax.grad(loss)(params, x, y)


def main(batches):
    params = {"w": jnp.ones((4, 8)), "v": jnp.ones((8, 1))}
    for x, y in batches:
        params = update(params, x, y)
    step = jax.jit(compiled)
    for x, y in batches:
        params = step(params, x, y)
    state = optimizer.init(params)
    for x, y in batches:
        params, state = by_optimiser(params, state, x, y)
    for _ in range(8):
        params = short(params, x, y)
    return params, [sensitivity(params, x, y) for x, y in batches]


if __name__ == "__main__":
    from loaders import batches

    main(batches)
