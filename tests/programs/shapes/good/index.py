import jax
import jax.numpy as jnp


@jax.jit
def last_state(states):
    return states[99], states[-100], states[..., 5], states.at[200].set(0.0, mode="drop")


states = jnp.zeros((100, 6))
print(last_state(states))
