# source: google/flax#1004
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.3, deterministic=not train)(x)
        return nn.Dense(1)(x)


def main():
    model = Net()
    init_key, dropout_key = jax.random.split(jax.random.key(0))
    x, y = jnp.ones((8, 4)), jnp.ones((8, 1))
    params = model.init(init_key, x, False)
    tx = optax.sgd(0.1)

    def loss_fn(params, x, y):
        pred = model.apply(params, x, True, rngs={"dropout": dropout_key})  # finding
        return jnp.mean((pred - y) ** 2)

    @jax.jit
    def step(params, opt_state, x, y):  # finding-also
        updates, opt_state = tx.update(jax.grad(loss_fn)(params, x, y), opt_state)
        return optax.apply_updates(params, updates), opt_state

    opt_state = tx.init(params)
    for _ in range(10):
        params, opt_state = step(params, opt_state, x, y)  # finding-also
    return params


if __name__ == "__main__":
    main()
