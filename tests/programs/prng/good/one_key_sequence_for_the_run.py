# source: google-deepmind/dm-haiku#585
# blind: fourth

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def network(x, is_training):
    h = jax.nn.relu(hk.Linear(64)(x))
    if is_training:
        h = hk.dropout(hk.next_rng_key(), 0.3, h)
    return hk.Linear(1)(h)


model = hk.transform(network)
optimizer = optax.sgd(1e-2)


@jax.jit  # finding-other
def update(params, opt_state, key, x, y):
    def loss_fn(p):
        return jnp.mean((model.apply(p, key, x, True) - y) ** 2)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def train(batches, seed=42):
    keys = hk.PRNGSequence(seed)
    x, _ = batches[0]
    params = model.init(next(keys), x, True)
    opt_state = optimizer.init(params)
    for x, y in batches:
        params, opt_state = update(params, opt_state, next(keys), x, y)
    return params


if __name__ == "__main__":
    data = [(jnp.ones((8, 4)) * i, jnp.ones((8, 1))) for i in range(5)]
    print(jax.tree.map(jnp.shape, train(data)))
