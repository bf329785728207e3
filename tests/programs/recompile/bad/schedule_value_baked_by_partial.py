# source: google-deepmind/optax#262
# blind: first
# missed: a function that each iteration jits anew with another number; only its donation is told, as advice

import functools

import jax
import jax.numpy as jnp


def apply_sgd(params, grads, *, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def cosine(i, n):
    return 0.5 * (1 + jnp.cos(jnp.pi * i / n)).item()


def train(params, grad_fn, n):
    for i in range(n):
        lr = cosine(i, n)
        step = jax.jit(functools.partial(apply_sgd, lr=lr))  # finding
        params = step(params, grad_fn(params))
    return params


if __name__ == "__main__":
    print(train(jnp.ones(2), jax.jit(jax.grad(lambda p: (p**2).sum())), 3))
