# source: jax-ml/jax#3646
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
from jax import tree_util


def init_params(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "conv_a": jax.random.normal(k1, (64, 64)) * 0.1,
        "conv_b": jax.random.normal(k2, (64, 64)) * 0.1,
        "out": jax.random.normal(k3, (64, 2)) * 0.1,
    }


def loss_fn(params, x, label):
    h = jnp.tanh(x @ params["conv_a"])
    h = jnp.tanh(h @ params["conv_b"])
    return -jax.nn.log_softmax(h @ params["out"])[label]


def clipped_grad(params, x, label, clip):
    g = jax.grad(loss_fn)(params, x, label)
    leaves, treedef = tree_util.tree_flatten(g)
    norm = jnp.sqrt(sum(jnp.sum(leaf ** 2) for leaf in leaves))
    return treedef.unflatten([leaf * jnp.minimum(1.0, clip / norm) for leaf in leaves])


@functools.partial(jax.jit, static_argnames=("clip", "multiplier"))
def private_grad(params, key, xs, labels, clip=1.0, multiplier=1.1):
    per_example = jax.vmap(clipped_grad, (None, 0, 0, None))(params, xs, labels, clip)
    summed = jax.tree.map(lambda g: g.sum(axis=0), per_example)
    leaves, treedef = tree_util.tree_flatten(summed)
    scale = clip * multiplier
    noised = [g + scale * jax.random.normal(key, g.shape) for g in leaves]  # finding
    return jax.tree.map(lambda g: g / xs.shape[0], treedef.unflatten(noised)), summed


def main():
    key = jax.random.key(0)
    key, k_init, k_x, k_y = jax.random.split(key, 4)
    params = init_params(k_init)
    xs = jax.random.normal(k_x, (32, 64))
    labels = jax.random.bernoulli(k_y, 0.5, (32,)).astype(jnp.int32)
    for step in range(5):
        key, k_noise = jax.random.split(key)
        grads, clean = private_grad(params, k_noise, xs, labels)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    na = grads["conv_a"] * 32 - clean["conv_a"]
    nb = grads["conv_b"] * 32 - clean["conv_b"]
    corr = jnp.corrcoef(na.ravel(), nb.ravel())[0, 1]
    print("correlation of the noise on two layers", float(corr))


if __name__ == "__main__":
    main()
