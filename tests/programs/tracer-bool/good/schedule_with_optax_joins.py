# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp
import optax


def make_schedule(peak, warmup, total, kind="cosine"):
    rise = optax.linear_schedule(0.0, peak, warmup)
    if kind == "cosine":
        fall = optax.cosine_decay_schedule(peak, total - warmup)
    else:
        def fall(count):
            return peak * jnp.where(count < total, 1.0 - count / total, 0.0)
    return optax.join_schedules([rise, fall], [warmup])


optimizer = optax.adamw(make_schedule(1e-3, 100, 1000, kind="linear"))


@jax.jit  # finding-other
def update(params, state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


params = jnp.zeros(4)
state = optimizer.init(params)
losses = []
for _ in range(3):
    params, state, loss = update(params, state, jnp.ones((8, 4)), jnp.ones(8))
    losses.append(loss)
print(jnp.stack(losses))
