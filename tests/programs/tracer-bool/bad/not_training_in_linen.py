# source: google/flax#4085

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Regressor(nn.Module):
    width: int = 16
    rate: float = 0.2

    @nn.compact
    def __call__(self, x, training):
        x = nn.relu(nn.Dense(self.width)(x))
        x = nn.Dropout(rate=self.rate, deterministic=not training)(x)  # finding
        return nn.Dense(1)(x)


model = Regressor()
tx = optax.sgd(1e-2)


def mse(params, x, y, training, key):
    pred = model.apply(params, x, training, rngs={"dropout": key})
    return jnp.mean((pred[:, 0] - y) ** 2)


@jax.jit
def train_step(params, opt_state, x, y, training, key):
    loss, grads = jax.value_and_grad(mse)(params, x, y, training, key)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


key = jax.random.PRNGKey(0)
x, y = jnp.ones((8, 4)), jnp.zeros(8)
params = model.init(key, x, False)
opt_state = tx.init(params)
for step in range(3):
    params, opt_state, loss = train_step(params, opt_state, x, y, True, jax.random.fold_in(key, step))
print(loss)
