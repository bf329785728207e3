# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def step(w, batch):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((batch @ w) ** 2))(w)
    return w - 0.1 * g, loss


def train(w, batches):
    best = jnp.inf
    for batch in batches:
        w, loss = step(w, batch)
        if jnp.isnan(loss):  # finding
            raise FloatingPointError("the loss is NaN")
        best = jnp.minimum(best, loss)
    return w, best


print(train(jnp.ones(3), [jnp.ones((4, 3))] * 4))
