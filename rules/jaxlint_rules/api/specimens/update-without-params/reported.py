# optimizers that read the parameters

import jax
import jax.numpy as jnp
import optax

def make(lr):
    return optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.add_decayed_weights(1e-4), optax.scale(-lr))

class Trainer:
    def __init__(self, params):
        self.tx = optax.adamw(1e-3)
        self.state = self.tx.init(params)

    def step(self, grads):
        updates, self.state = self.tx.update(grads, self.state)  # finding
        return updates

def train(loss, params, batches):
    tx = make(1e-3)
    state = tx.init(params)

    @jax.jit
    def step(params, state, batch):
        grads = jax.grad(loss)(params, batch)
        updates, state = tx.update(grads, state)  # finding
        return optax.apply_updates(params, updates), state

    for batch in batches:
        params, state = step(params, state, batch)
    return params

Trainer({"w": jnp.ones(3)}).step({"w": jnp.ones(3)})
train(lambda p, b: jnp.mean((b @ p) ** 2), jnp.ones(3), [jnp.ones((4, 3))])
lion = optax.lion(1e-3)
lion.update(jnp.ones(3), lion.init(jnp.ones(3)), None)  # finding
