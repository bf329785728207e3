# source: mlaux1/rl-blox#157

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("train",))
def forward(params, x, key, train):
    h = jax.nn.relu(x @ params["w"])
    if train:
        h = h * jax.random.bernoulli(key, 0.9, h.shape) / 0.9
    return h @ params["v"]


@jax.jit  # finding-other
def update(params, x, y, key):
    def loss(p):
        return jnp.mean((forward(p, x, key, train=True) - y) ** 2)

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))


def run(params, batches, key):
    for i, (x, y) in enumerate(batches):
        params = update(params, x, y, jax.random.fold_in(key, i))
    scores = [forward(params, x, key, train=False) for x, _ in batches]
    return params, jnp.stack(scores)


if __name__ == "__main__":
    p = {"w": jnp.ones((3, 4)), "v": jnp.ones(4)}
    print(run(p, [(jnp.ones((2, 3)), jnp.ones(2))] * 4, jax.random.key(0))[1])
