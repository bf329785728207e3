# source: google/flax#2593
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Head(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(self.width)(x))
        x = nn.Dropout(0.3, deterministic=not train)(x)
        return nn.Dense(1)(x)[..., 0]


model = Head()
tx = optax.sgd(0.05)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, x, y, dropout_key):
    def loss_fn(p):
        pred = model.apply({"params": p}, x, True, rngs={"dropout": dropout_key})
        return jnp.mean((pred - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main(steps=5):
    k_data, k_init, k_drop = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_data, (16, 4))
    y = x.sum(axis=1)
    params = model.init(k_init, x, False)["params"]
    opt_state = tx.init(params)
    for step in range(steps):
        params, opt_state, loss = train_step(params, opt_state, x, y, k_drop)  # finding
    print(loss)


if __name__ == "__main__":
    main()
