# blind: sixteenth

"""A residual layer whose gradient is clipped by value in the backward pass."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def clipped_matmul(x, w, limit):
    return x @ w


def clipped_matmul_fwd(x, w, limit):
    return x @ w, (x, w)


def clipped_matmul_bwd(limit, residuals, g):
    x, w = residuals
    g = jnp.clip(g, -limit, limit)
    dx = g @ w.T
    dw = x.T @ g
    return dx, dw, None  # finding


clipped_matmul.defvjp(clipped_matmul_fwd, clipped_matmul_bwd)


def init(key, width, depth):
    keys = jax.random.split(key, depth)
    return [jax.random.normal(k, (width, width)) / jnp.sqrt(width) for k in keys]


def net(weights, x, limit):
    for w in weights:
        x = x + jnp.tanh(clipped_matmul(x, w, limit))
    return x.mean(axis=-1)


def loss_fn(weights, x, y, limit=0.1):
    return jnp.mean((net(weights, x, limit) - y) ** 2)


optimizer = optax.sgd(1e-2, momentum=0.9)


@jax.jit
def step(weights, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(weights, x, y)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(weights, updates), opt_state, loss


def main():
    weights = init(jax.random.PRNGKey(0), 32, 4)
    opt_state = optimizer.init(weights)
    rng = np.random.default_rng(0)
    for i in range(20):
        x = rng.normal(size=(16, 32)).astype(np.float32)
        y = x[:, 0]
        weights, opt_state, loss = step(weights, opt_state, x, y)
        if i % 10 == 0:
            print(i, loss)


if __name__ == "__main__":
    main()
