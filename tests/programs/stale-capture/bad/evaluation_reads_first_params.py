# source: google/flax#3982
# blind: sixteenth

"""Sequence regression with linen: train for a few epochs and report the error on held-out data."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Encoder(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        x = nn.gelu(x)
        x = nn.LayerNorm()(x)
        x = x.mean(axis=1)
        return nn.Dense(1)(x)[:, 0]


model = Encoder()
params = model.init(jax.random.PRNGKey(0), jnp.zeros((1, 12, 4)))["params"]
tx = optax.adam(1e-2)
opt_state = tx.init(params)


def loss_fn(p, x, y):
    pred = model.apply({"params": p}, x)
    return jnp.mean((pred - y) ** 2)


@jax.jit
def update(p, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(p, x, y)
    updates, opt_state = tx.update(grads, opt_state, p)
    return optax.apply_updates(p, updates), opt_state, loss


@jax.jit
def eval_step(x, y):  # finding-also
    pred = model.apply({"params": params}, x)  # finding
    return jnp.mean(jnp.abs(pred - y))


def make_data(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12, 4)).astype(np.float32)
    y = x.sum(axis=(1, 2)) * 0.2
    return x, y.astype(np.float32)


def main():
    global params, opt_state
    train_x, train_y = make_data(0, 512)
    test_x, test_y = make_data(1, 128)
    for epoch in range(5):
        order = np.random.default_rng(epoch).permutation(len(train_x))
        for i in range(0, len(order), 64):
            idx = order[i : i + 64]
            params, opt_state, loss = update(params, opt_state, train_x[idx], train_y[idx])
        mae = eval_step(test_x, test_y)  # finding-also
        print(f"epoch {epoch}: train loss {loss:.4f}, test mae {mae:.4f}")


if __name__ == "__main__":
    main()
