# source: jax-ml/jax#1832
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax


def example_loss(params, x, y):
    h = jnp.tanh(x @ params["w1"])
    return (h @ params["w2"] - y) ** 2


def clip_tree(tree, bound):
    norm = optax.global_norm(tree)
    factor = jnp.minimum(1.0, bound / (norm + 1e-6))
    return jax.tree.map(lambda g: g * factor, tree)


@functools.partial(jax.jit, donate_argnums=0)
def dp_sgd_step(params, key, x, y, lr=0.1, bound=1.0, noise=0.1):
    per_example = jax.vmap(jax.grad(example_loss), in_axes=(None, 0, 0))(params, x, y)
    clipped = jax.vmap(lambda g: clip_tree(g, bound))(per_example)
    leaves, treedef = jax.tree.flatten(jax.tree.map(lambda g: g.sum(0), clipped))
    keys = jax.random.split(key, len(leaves))
    noisy = [g + noise * bound * jax.random.normal(k, g.shape) for g, k in zip(leaves, keys)]
    grads = jax.tree.unflatten(treedef, [g / x.shape[0] for g in noisy])
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def main(steps=5):
    k1, k2, k3, k_loop = jax.random.split(jax.random.key(0), 4)
    params = {"w1": jax.random.normal(k1, (4, 8)), "w2": jax.random.normal(k2, (8,))}
    x = jax.random.normal(k3, (32, 4))
    y = x[:, 0]
    for k in jax.random.split(k_loop, steps):
        params = dp_sgd_step(params, k, x, y)
    print(jax.vmap(example_loss, in_axes=(None, 0, 0))(params, x, y).mean())


if __name__ == "__main__":
    main()
