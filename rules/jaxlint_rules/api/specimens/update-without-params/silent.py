# optimizers that get the parameters, or do not read them

import jax.numpy as jnp
import optax

params, grads = jnp.ones(3), jnp.ones(3)
for tx in (optax.adam(1e-3), optax.sgd(1e-2, momentum=0.9), optax.chain(optax.clip(1.0), optax.rmsprop(1e-3))):
    updates, state = tx.update(grads, tx.init(params))

decayed = optax.adamw(1e-3)
updates, state = decayed.update(grads, decayed.init(params), params)
updates, state = decayed.update(grads, state, params=params)
given = {"params": params}
updates, state = decayed.update(grads, state, **given)
masked = optax.masked(optax.adam(1e-3), True)
updates, state = masked.update(grads, masked.init(params))
try:
    decayed.update(grads, state)
except Exception:
    pass
