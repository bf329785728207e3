# source: google/flax#1553
# blind: sixth

"""Training step that logs by the logging module."""
import logging

import jax
import jax.numpy as jnp
import optax

log = logging.getLogger(__name__)
opt = optax.sgd(0.1)


def make_step(loss_fn):
    @jax.jit
    def step(params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, opt_state = opt.update(grads, opt_state)
        log.info("loss %s", loss)  # finding
        return optax.apply_updates(params, updates), opt_state

    return step


def main():
    logging.basicConfig(level=logging.INFO)
    params = jnp.zeros(3)
    state = opt.init(params)
    step = make_step(lambda p, b: jnp.mean((b @ p - 1.0) ** 2))
    for _ in range(5):
        params, state = step(params, state, jnp.ones((4, 3)))
    print(params)


if __name__ == "__main__":
    main()
