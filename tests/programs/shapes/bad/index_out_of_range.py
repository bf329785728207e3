import jax
import jax.numpy as jnp


@jax.jit
def last_state(states):
    return states[100]  # finding


states = jnp.zeros((100, 6))
print(last_state(states))
