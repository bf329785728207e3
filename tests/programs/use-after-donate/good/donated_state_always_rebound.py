# source: jax-ml/jax#9675
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)


def loss_fn(params, x):
    return jnp.mean((jnp.tanh(x @ params["enc"]) @ params["dec"] - x) ** 2)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(updates)


def train(params, x, steps):
    opt_state = tx.init(params)
    start = jax.tree.map(jnp.copy, params)
    best, best_loss = None, float("inf")
    for i in range(steps):
        params, opt_state, loss, moved = update(params, opt_state, x)
        if (i + 1) % 10 == 0 and float(loss) < best_loss:
            best_loss = float(loss)
            best = jax.device_get(params)
    drift = optax.global_norm(jax.tree.map(lambda a, b: a - b, params, start))
    return params, best, drift, moved


if __name__ == "__main__":
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    init = {"enc": jax.random.normal(k1, (6, 3)), "dec": jax.random.normal(k2, (3, 6))}
    _, best, drift, moved = train(init, jax.random.normal(k3, (32, 6)), 20)
    print(best["enc"].shape, drift, moved)
