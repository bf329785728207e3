# source: google/flax#2675
# missed: not found yet

import haiku as hk
import jax
import jax.numpy as jnp


def net(x, is_training):
    h = jax.nn.relu(hk.Linear(16)(x))
    if is_training:
        h = hk.dropout(hk.next_rng_key(), 0.3, h)
    return hk.Linear(1)(h)


model = hk.transform(net)


@jax.jit
def update(params, rng, x, y):
    def loss(p):
        return jnp.mean((model.apply(p, rng, x, True) - y) ** 2)

    return jax.tree.map(lambda p, g: p - 0.01 * g, params, jax.grad(loss)(params))


def train(x, y, steps):
    rng = jax.random.PRNGKey(3)
    params = model.init(rng, x, True)
    for _ in range(steps):
        params = update(params, rng, x, y)  # finding
        rng, _ = jax.random.split(rng)
    return params


if __name__ == "__main__":
    print(jax.tree.leaves(train(jnp.ones((4, 3)), jnp.ones((4, 1)), 3))[0])
