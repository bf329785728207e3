# source: jax-ml/jax#19960
# blind: first

import jax
import jax.numpy as jnp


def action(path, dt):
    v = jnp.diff(path) / dt
    mid = 0.5 * (path[1:] + path[:-1])
    lagrangian = 0.5 * v**2 - 0.5 * mid**2
    return jnp.trapz(lagrangian, dx=dt)  # finding


@jax.jit
def relax(path, dt):
    g = jax.grad(action)(path, dt)
    return path - 0.01 * g.at[0].set(0.0).at[-1].set(0.0)


if __name__ == "__main__":
    print(relax(jnp.linspace(0.0, 1.0, 8), 0.1))
