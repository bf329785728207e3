# source: jax-ml/jax#4143

import jax
import jax.numpy as jnp


def loss(params, x, y):
    pred = jnp.tanh(x @ params["w"]) @ params["v"]
    return (pred - y) ** 2


def clip(grads, bound):
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, bound / norm), grads)


def private_gradient(params, xs, ys, bound, key):
    grad_fn = jax.jit(jax.grad(loss))
    clipped = [clip(grad_fn(params, xs[i], ys[i]), bound) for i in range(len(xs))]  # finding
    total = jax.tree.map(lambda *g: sum(g), *clipped)
    leaves, treedef = jax.tree.flatten(total)
    keys = jax.random.split(key, len(leaves))
    noisy = [g + bound * jax.random.normal(k, g.shape) for g, k in zip(leaves, keys)]
    return jax.tree.unflatten(treedef, noisy)


if __name__ == "__main__":
    params = {"w": jnp.ones((3, 4)), "v": jnp.ones(4)}
    print(private_gradient(params, jnp.ones((6, 3)), jnp.ones(6), 1.0, jax.random.key(0)))
