# source: google-deepmind/optax#1129
# blind: first

import functools

import jax
import jax.numpy as jnp


def global_norm(tree):
    return jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(tree)))


def clip(grads, max_norm):
    if (norm := global_norm(grads)) > max_norm:  # finding
        return jax.tree.map(lambda g: g * (max_norm / norm), grads)
    return grads


@functools.partial(jax.jit, static_argnames=("max_norm",))
def sgd(params, batch, lr, *, max_norm=1.0):
    def loss(p):
        return jnp.mean((batch @ p["k"] + p["b"]) ** 2)

    grads = clip(jax.grad(loss)(params), max_norm)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


if __name__ == "__main__":
    print(sgd({"k": jnp.ones((3, 2)), "b": jnp.ones(2)}, jnp.ones((4, 3)), 0.1))
