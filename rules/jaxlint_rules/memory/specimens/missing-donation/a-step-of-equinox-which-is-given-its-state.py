# a step of equinox, which is given its state and arrays of the host

import equinox as eqx
import jax.numpy as jnp
import numpy as np

@eqx.filter_jit  # finding
def step(model, batch):
    grads = eqx.filter_grad(lambda m: jnp.mean(m(batch) ** 2))(model)
    return eqx.apply_updates(model, grads)

def train(model, count):
    for _ in range(count):
        batch = np.random.normal(size=(8, 3))
        model = step(model, batch)
    return model
