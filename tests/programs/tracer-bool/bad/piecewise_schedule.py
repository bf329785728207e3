# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp
import optax


def make_schedule(peak, warmup, total):
    def schedule(count):
        if count < warmup:  # finding
            return peak * count / warmup
        progress = (count - warmup) / (total - warmup)
        return 0.5 * peak * (1 + jnp.cos(jnp.pi * progress))

    return schedule


def build_optimizer(peak=1e-3, warmup=100, total=1000):
    schedule = make_schedule(peak, warmup, total)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(learning_rate=schedule))


optimizer = build_optimizer()


@jax.jit
def update(params, opt_state, x, y):
    def loss_fn(p):
        return jnp.mean((x @ p - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


params = jnp.zeros(4)
opt_state = optimizer.init(params)
x, y = jnp.ones((8, 4)), jnp.ones(8)
for _ in range(3):
    params, opt_state, loss = update(params, opt_state, x, y)
print(loss)
