# source: google/flax#2675
# blind: first
# missed: not found yet

import haiku as hk
import jax
import jax.numpy as jnp


def forward(x):
    h = jax.nn.relu(hk.Linear(16)(x))
    h = hk.dropout(hk.next_rng_key(), 0.5, h)
    return hk.Linear(1)(h)


net = hk.transform(forward)


@jax.jit
def grads(params, rng, x, y):
    return jax.grad(lambda p: jnp.mean((net.apply(p, rng, x) - y) ** 2))(params)


def fit(params, data, epochs, seed):
    root = jax.random.PRNGKey(seed)
    for epoch in range(epochs):
        rng = jax.random.fold_in(root, epoch)
        for x, y in data:
            g = grads(params, rng, x, y)  # finding
            params = jax.tree.map(lambda p, d: p - 0.01 * d, params, g)
    return params


if __name__ == "__main__":
    p = net.init(jax.random.PRNGKey(0), jnp.ones((2, 3)))
    fit(p, [(jnp.ones((2, 3)), jnp.ones((2, 1)))] * 3, 2, 0)
