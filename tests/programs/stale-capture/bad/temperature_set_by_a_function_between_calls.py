# blind: every clause

import jax
import jax.numpy as jnp

_temperature = 1.0


def set_temperature(t):
    global _temperature
    _temperature = t


@jax.jit
def sample(logits):
    return jax.nn.softmax(logits / _temperature)  # finding


def main():
    logits = jnp.arange(3.0)
    a = sample(logits)
    set_temperature(0.5)
    b = sample(logits)
    assert jnp.allclose(a, b)


main()
