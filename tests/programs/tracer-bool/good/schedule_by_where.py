# source: google-deepmind/optax#38
# blind: first

import jax
import jax.numpy as jnp
import optax

WARMUP, TOTAL = 100, 1000


def make_schedule(peak, warmup):
    if warmup <= 0:
        raise ValueError("warm-up takes at least one step")

    def lr_at(count):
        ramp = peak * count / warmup
        decay = peak * 0.5 * (1.0 + jnp.cos(jnp.pi * (count - warmup) / (TOTAL - warmup)))
        return jnp.where(count < warmup, ramp, decay)

    return lr_at


tx = optax.adamw(learning_rate=make_schedule(3e-4, WARMUP))


@jax.jit
def compute(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


if __name__ == "__main__":
    p = jnp.ones(4)
    compute(p, tx.init(p), jnp.ones((8, 4)))
