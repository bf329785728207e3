# source: goodfire-ai/spd#971
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp
import optax

tx = optax.adamw(1e-3)


@partial(jax.jit, donate_argnums=(0, 1))
def step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def fit(params, batches):
    opt_state = tx.init(params)
    for batch in batches:
        params, opt_state, loss = step(params, opt_state, batch)
    return params, loss


if __name__ == "__main__":
    print(fit(jnp.ones((16, 4)), [jnp.ones((8, 16))] * 3)[1])
