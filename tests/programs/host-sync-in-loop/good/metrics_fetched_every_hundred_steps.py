# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

tx = optax.adam(1e-2)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, opt_state, x, y):
    def loss_fn(p):
        return jnp.mean((x @ p["w"] + p["b"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def stream(rng, n, batch=16):
    for _ in range(n):
        x = rng.normal(size=(batch, 3)).astype(np.float32)
        yield x, x.sum(axis=1)


def train(n_steps=250, log_every=100):
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    opt_state = tx.init(params)
    pending = []
    for i, (x, y) in enumerate(stream(np.random.default_rng(0), n_steps), start=1):
        params, opt_state, loss = step(params, opt_state, x, y)
        pending.append(loss)
        if i % log_every == 0:
            print(i, float(np.mean(jax.device_get(pending))))
            pending.clear()
    return params, float(loss)


if __name__ == "__main__":
    print(train()[1])
