# source: jax-ml/jax#2783

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@jax.jit  # finding-other
def train_step(params, state, x, y):
    def loss_fn(p):
        residual = x @ p - y
        return jnp.mean(residual**2), {"mae": jnp.abs(residual).mean(), "count": residual.size}

    (loss, metrics), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, {"loss": loss, **metrics}


def summarise(history):
    stacked = jax.tree.map(lambda *xs: np.stack(xs), *jax.device_get(history))
    return {name: float(values.mean()) for name, values in stacked.items()}


def main():
    params = jnp.zeros(3)
    state = optimizer.init(params)
    history = []
    for _ in range(5):
        params, state, metrics = train_step(params, state, jnp.ones((4, 3)), jnp.ones(4))
        history.append(metrics)
    print(f"{summarise(history)['loss']:.3f}")


main()
