# source: google/flax#2631
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(32)(x))
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(1)(x)


def fit(model, params, batches, dropout_key):
    tx = optax.adam(1e-3)
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state, batch, rng):
        def loss_fn(p):
            out = model.apply({"params": p}, batch["x"], True, rngs={"dropout": rng})
            return jnp.mean((out - batch["y"]) ** 2)

        grads = jax.grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    for batch in batches:
        params, opt_state = step(params, opt_state, batch, dropout_key)  # finding
    return params


if __name__ == "__main__":
    init_key, drop_key = jax.random.split(jax.random.key(0))
    model = Net()
    data = [{"x": jnp.ones((8, 4)), "y": jnp.ones((8, 1))}] * 3
    params = model.init(init_key, data[0]["x"], False)["params"]
    fit(model, params, data, drop_key)
