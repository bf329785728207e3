# source: jax-ml/jax#27748
# blind: eighteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Fluid(NamedTuple):
    u: jax.Array
    v: jax.Array
    dye: jax.Array


def advect(field, u, v, dt):
    n, m = field.shape
    i, j = jnp.meshgrid(jnp.arange(n), jnp.arange(m), indexing="ij")
    coords = [(i - dt * u) % n, (j - dt * v) % m]
    return jax.scipy.ndimage.map_coordinates(field, coords, order=1, mode="wrap")


def step(state, dt):
    u = advect(state.u, state.u, state.v, dt)
    v = advect(state.v, state.u, state.v, dt)
    dye = advect(state.dye, u, v, dt)
    return Fluid(u, v, dye)


@functools.partial(jax.jit, static_argnames="n_steps", donate_argnums=0)
def simulate(state, n_steps, dt=0.5):
    def body(s, _):
        s = step(s, dt)
        return s, s  # finding

    final, history = jax.lax.scan(body, state, None, length=n_steps)  # finding-also
    return final, history.dye[-1].mean()  # finding-also


def main(n=128):
    x = jnp.linspace(0, 2 * jnp.pi, n)
    u = jnp.sin(x)[None, :] * jnp.ones((n, 1))
    state = Fluid(u, u.T.copy(), jnp.zeros((n, n)).at[: n // 2].set(1.0))
    final, dye = simulate(state, 100)
    print(final.dye.sum(), dye)


if __name__ == "__main__":
    main()
