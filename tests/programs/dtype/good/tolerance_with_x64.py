# blind: ninth

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp


def richardson(matrix, b, tol):
    def unfinished(state):
        return (state[1] > tol) & (state[2] < 1000)

    def step(state):
        x, _, n = state
        r = b - matrix @ x
        return x + 0.3 * r, jnp.linalg.norm(r) / jnp.linalg.norm(b), n + 1

    return jax.lax.while_loop(unfinished, step, (jnp.zeros_like(b), jnp.asarray(jnp.inf), 0))


if __name__ == "__main__":
    print(jax.jit(richardson)(jnp.eye(4) * 2, jnp.ones(4), 1e-12))
