# blind: eighteenth

import jax
import jax.numpy as jnp
import optax


def cast_tree(tree, dtype):
    return jax.tree.map(lambda p: p.astype(dtype), tree)


def init(key, sizes=(64, 256, 64)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, s) for k, s in zip(keys, zip(sizes[:-1], sizes[1:]))]


def forward(params, x):
    for w in params[:-1]:
        x = jax.nn.relu(x @ w) / 16.0
    return x @ params[-1]


def loss_fn(params, x, y):
    half = cast_tree(params, jnp.float16)
    out = forward(half, x.astype(jnp.float16))
    sq = (out - y.astype(jnp.float16)) ** 2
    data = sq.sum() / sq.size  # finding
    reg = sum(jnp.sum(p**2) for p in params)
    return data + 1e-6 * reg


@jax.jit
def evaluate(params, x, y):
    return loss_fn(params, x, y), optax.global_norm(jax.grad(loss_fn)(params, x, y))


if __name__ == "__main__":
    k1, k2 = jax.random.split(jax.random.key(0))
    weights = init(k1)
    xs = jax.random.normal(k2, (512, 64))
    print(evaluate(weights, xs, xs))
