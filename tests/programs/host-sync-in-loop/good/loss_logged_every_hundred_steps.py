# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def step(w, batch):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((batch @ w - 1.0) ** 2))(w)
    return w - 0.01 * g, loss


def train(w, batches):
    for i, batch in enumerate(batches):
        w, loss = step(w, batch)
        if i % 100 == 0:
            print(f"step {i}: loss {float(loss):.4f}")
    return w


print(train(jnp.zeros(3), [jnp.ones((4, 3))] * 5))
