# source: jax-ml/jax#17366
# blind: fifth

import jax
import jax.numpy as jnp

GM = 398600.4418


@jax.jit
def acceleration(r):
    return -GM * r / jnp.linalg.norm(r) ** 3


def leapfrog(r, v, dt):
    v_half = v + 0.5 * dt * acceleration(r)
    r = r + dt * v_half
    return r, v_half + 0.5 * dt * acceleration(r)


def propagate(r0, v0, t_end, n):
    # single precision loses metres within one revolution
    times = jnp.linspace(0.0, t_end, n, dtype=jnp.float64)  # finding
    dt = times[1] - times[0]

    def body(carry, _):
        return leapfrog(*carry, dt), carry[0]

    _, track = jax.lax.scan(body, (r0, v0), times)
    return track


if __name__ == "__main__":
    r0 = jnp.array([7000.0, 0.0, 0.0])
    v0 = jnp.array([0.0, 7.546, 0.0])
    print(propagate(r0, v0, 5400.0, 1000)[-1])
