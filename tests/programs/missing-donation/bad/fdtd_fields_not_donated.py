# source: tbsexton/epidemic#1
# missed: not found yet

from functools import partial

import jax
import jax.numpy as jnp


def curl_e(E):
    return jnp.stack([jnp.roll(E[1], -1, 0) - E[1], E[0] - jnp.roll(E[0], -1, 1)])


@partial(jax.jit, static_argnames=("courant",))  # finding-also
def advance(E, H, source, courant=0.5):  # finding
    H = H - courant * curl_e(E)
    E = E + courant * jnp.stack([H[1] - jnp.roll(H[1], 1, 1), jnp.roll(H[0], 1, 0) - H[0]])
    E = E.at[0, 8, 8].add(source)
    return E, H


def simulate(n_steps, size=64):
    E = jnp.zeros((2, size, size))
    H = jnp.zeros((2, size, size))
    for t in range(n_steps):
        E, H = advance(E, H, jnp.sin(0.3 * t))  # finding-also
    return jnp.sum(E**2) + jnp.sum(H**2)


if __name__ == "__main__":
    print(simulate(10))
