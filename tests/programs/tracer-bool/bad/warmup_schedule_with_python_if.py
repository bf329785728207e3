# source: google-deepmind/optax#38
# blind: first

import jax
import jax.numpy as jnp
import optax

WARMUP, TOTAL, PEAK = 100, 1000, 3e-4


def lr_at(count):
    """Linear warm-up, then cosine decay."""
    if count < WARMUP:  # finding
        return PEAK * count / WARMUP
    progress = (count - WARMUP) / (TOTAL - WARMUP)
    return PEAK * 0.5 * (1.0 + jnp.cos(jnp.pi * progress))


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(learning_rate=lr_at))  # finding-also


def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] - y) ** 2)


@jax.jit
def train_step(params, opt_state, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


if __name__ == "__main__":
    params = {"w": jnp.zeros((4,))}
    state = tx.init(params)
    x, y = jnp.ones((8, 4)), jnp.ones((8,))
    for _ in range(3):
        params, state = train_step(params, state, x, y)
