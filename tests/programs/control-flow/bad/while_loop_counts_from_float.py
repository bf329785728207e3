# source: jax-ml/jax#1897
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def power_iteration(a, tol):
    def unfinished(state):
        v, previous, i = state
        return (jnp.abs(v - previous).max() > tol) & (i < 100)

    def improve(state):
        v, _, i = state
        w = a @ v
        return w / jnp.linalg.norm(w), v, i + 1

    v = jnp.ones((a.shape[0], 1))
    return jax.lax.while_loop(unfinished, improve, (v, jnp.zeros(a.shape[0], jnp.int32), 0))[0]  # finding


if __name__ == "__main__":
    print(power_iteration(jnp.eye(3), 1e-5))
