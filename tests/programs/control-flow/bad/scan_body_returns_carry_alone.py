# source: jax-ml/jax#4008
# blind: first

import jax
import jax.numpy as jnp


def leapfrog(state, _):
    q, p = state
    p = p - 0.05 * q
    q = q + 0.1 * p
    return q, p - 0.05 * q


def rk2(y, t):
    k = jnp.sin(y + t)
    return y + 0.1 * k  # finding


@jax.jit
def integrate(y, ts):
    final, path = jax.lax.scan(rk2, y, ts)  # finding-also
    return final, path


if __name__ == "__main__":
    print(integrate(jnp.ones(3), jnp.arange(4.0)))
