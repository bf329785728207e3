# blind: tenth

import jax
import jax.numpy as jnp

temperature = 1.0


@jax.jit
def policy(logits):
    return jax.nn.softmax(logits / temperature)  # finding


def anneal(logits, epochs):
    global temperature
    probs = policy(logits)
    for _ in range(epochs):
        temperature *= 0.5  # finding-also
        probs = policy(logits)
    return probs


print(anneal(jnp.array([1.0, 2.0, 3.0]), 5))
