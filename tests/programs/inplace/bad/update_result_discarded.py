# source: mlysy/rodeo-legacy#6
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def solve_path(x0, dt):
    path = jnp.zeros((50,) + x0.shape)
    path.at[0].set(x0)  # finding

    def body(i, path):
        return path.at[i].set(path[i - 1] + dt * jnp.cos(path[i - 1]))

    return jax.lax.fori_loop(1, 50, body, path)


if __name__ == "__main__":
    print(solve_path(jnp.ones(2), 0.1)[-1])
