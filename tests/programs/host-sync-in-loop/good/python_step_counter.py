# source: google/flax#1434

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)


@jax.jit  # finding-other
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def fit(params, loader, save_every=5):
    opt_state = tx.init(params)
    saved, losses = [], []
    for step, batch in enumerate(loader):
        params, opt_state, loss = train_step(params, opt_state, batch)
        losses.append(loss)
        if (step + 1) % save_every == 0:
            saved.append(jax.device_get(params))
    return params, saved, jax.device_get(losses)


if __name__ == "__main__":
    print(fit(jnp.ones(3), [jnp.ones((4, 3))] * 10)[2][-1])
