# source: jax-ml/jax#3646
# blind: second

import jax
import jax.numpy as jnp
import optax


def clip_tree(tree, bound):
    norm = optax.global_norm(tree)
    factor = jnp.minimum(1.0, bound / (norm + 1e-6))
    return jax.tree.map(lambda g: g * factor, tree)


def privatise(grads, key, bound, multiplier, batch_size):
    leaves, treedef = jax.tree.flatten(grads)
    keys = treedef.unflatten(list(jax.random.split(key, len(leaves))))

    def add_noise(g, k):
        return (g + bound * multiplier * jax.random.normal(k, g.shape)) / batch_size

    return jax.tree.map(add_noise, grads, keys)


def predict(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def example_loss(params, x, y):
    return (predict(params, x) - y) ** 2


@jax.jit  # finding-other
def private_step(params, key, xs, ys):
    grads = jax.vmap(jax.grad(example_loss), in_axes=(None, 0, 0))(params, xs, ys)
    grads = jax.vmap(clip_tree, in_axes=(0, None))(grads, 1.0)
    total = jax.tree.map(lambda g: g.sum(0), grads)
    noisy = privatise(total, key, 1.0, 1.1, xs.shape[0])
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, noisy)


def main():
    key, k1, k2, kx = jax.random.split(jax.random.key(0), 4)
    params = {
        "w1": jax.random.normal(k1, (4, 8)),
        "b1": jnp.zeros(8),
        "w2": jax.random.normal(k2, (8,)),
        "b2": jnp.zeros(()),
    }
    xs = jax.random.normal(kx, (32, 4))
    for sub in jax.random.split(key, 3):
        params = private_step(params, sub, xs, xs[:, 0])
    print(params["b2"])


if __name__ == "__main__":
    main()
