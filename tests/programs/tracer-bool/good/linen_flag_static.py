# source: google/flax#4085

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Regressor(nn.Module):
    width: int = 16
    residual: bool = True

    @nn.compact
    def __call__(self, x, training: bool):
        h = nn.relu(nn.Dense(self.width)(x))
        h = nn.Dropout(0.2, deterministic=not training)(h)
        if self.residual and h.shape == x.shape:
            h = h + x
        return nn.Dense(1)(h)


model = Regressor()
tx = optax.sgd(1e-2)


@functools.partial(jax.jit, static_argnames="training")  # finding-other
def train_step(params, opt_state, x, y, key, training=True):
    def loss_fn(p):
        pred = model.apply(p, x, training, rngs={"dropout": key})
        return jnp.mean((pred[:, 0] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    if not training:
        return params, opt_state, loss
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


x, y = jnp.ones((8, 16)), jnp.zeros(8)
params = model.init(jax.random.key(0), x, False)
opt_state = tx.init(params)
for step in range(3):
    params, opt_state, loss = train_step(params, opt_state, x, y, jax.random.key(step), training=step < 2)
print(loss)
