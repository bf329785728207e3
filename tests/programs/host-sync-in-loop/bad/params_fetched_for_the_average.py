# source: jax-ml/jax#1491
# blind: second
# missed: an average of the parameters on the host may be wanted there

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init(key):
    k1, k2 = jax.random.split(key)
    return {"w": jax.random.normal(k1, (6, 16)), "v": jax.random.normal(k2, (16,))}


def loss_fn(params, batch):
    x, y = batch
    return jnp.mean((jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2)


def make_update(tx):
    @jax.jit
    def update(params, state, batch):
        grads = jax.grad(loss_fn)(params, batch)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), state

    return update


def polyak(average, params, count):
    host = jax.device_get(params)  # finding
    return jax.tree.map(lambda a, p: a + (np.asarray(p) - a) / count, average, host)


def train(params, batches):
    tx = optax.adam(1e-3)
    update, state = make_update(tx), tx.init(params)
    average = jax.tree.map(lambda p: np.zeros(p.shape, p.dtype), params)
    for count, batch in enumerate(batches, start=1):
        params, state = update(params, state, batch)
        average = polyak(average, params, count)  # finding-also
    return average


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(1), (5, 8, 6))
    print(train(init(jax.random.key(0)), [(x, x[:, 0]) for x in xs])["v"].shape)
