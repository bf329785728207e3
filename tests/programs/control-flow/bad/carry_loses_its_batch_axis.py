# source: jax-ml/jax#15178
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def smooth(observations, state):
    def body(state, obs):
        blended = 0.9 * state + 0.1 * obs
        state = jnp.mean(jnp.tanh(state), axis=0)  # finding-also
        return state, blended

    return jax.lax.scan(body, state, observations)  # finding


if __name__ == "__main__":
    print(smooth(jnp.ones((5, 4, 3)), jnp.zeros((4, 3))))
