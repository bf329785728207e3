# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def tree_noise(key, tree, scale):
    leaves, treedef = jax.tree.flatten(tree)
    keys = jax.random.split(key, len(leaves))
    return treedef.unflatten([scale * jax.random.normal(k, g.shape) for k, g in zip(keys, leaves)])


def loss_fn(params, x, label):
    h = jnp.tanh(x @ params["a"])
    h = jnp.tanh(h @ params["b"])
    return -jax.nn.log_softmax(h @ params["out"])[label]


@functools.partial(jax.jit, static_argnames=("clip",))
def private_grad(params, key, xs, labels, clip=1.0):
    def one(x, label):
        g = jax.grad(loss_fn)(params, x, label)
        norm = jnp.sqrt(sum(jnp.sum(v ** 2) for v in jax.tree.leaves(g)))
        return jax.tree.map(lambda v: v * jnp.minimum(1.0, clip / norm), g)

    summed = jax.tree.map(lambda g: g.sum(axis=0), jax.vmap(one)(xs, labels))
    noise = tree_noise(key, summed, 1.1 * clip)
    return jax.tree.map(lambda g, n: (g + n) / xs.shape[0], summed, noise), noise


def main():
    key, k_a, k_b, k_o, k_x = jax.random.split(jax.random.key(0), 5)
    params = {
        "a": 0.1 * jax.random.normal(k_a, (32, 32)),
        "b": 0.1 * jax.random.normal(k_b, (32, 32)),
        "out": 0.1 * jax.random.normal(k_o, (32, 2)),
    }
    xs = jax.random.normal(k_x, (24, 32))
    labels = (xs[:, 0] > 0).astype(jnp.int32)
    for _ in range(5):
        key, sub = jax.random.split(key)
        grads, noise = private_grad(params, sub, xs, labels)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    print("noise correlation", float(jnp.corrcoef(noise["a"].ravel(), noise["b"].ravel())[0, 1]))


if __name__ == "__main__":
    main()
