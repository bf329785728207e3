# source: GalacticDynamics/galax#692

import equinox as eqx
import jax
import jax.numpy as jnp


class Halo(eqx.Module):
    mass: jax.Array
    flattening: jax.Array

    def __check_init__(self):
        if not 0.0 < self.flattening <= 1.0:  # finding
            raise ValueError("flattening must be in (0, 1]")

    def potential(self, q):
        r2 = q[0] ** 2 + q[1] ** 2 + (q[2] / self.flattening) ** 2
        return -self.mass * jnp.log1p(jnp.sqrt(r2 + 1e-3))


@eqx.filter_jit
def log_likelihood(theta, positions, speeds):
    halo = Halo(mass=jnp.exp(theta[0]), flattening=jax.nn.sigmoid(theta[1]))
    depth = jax.vmap(halo.potential)(positions)
    return -jnp.sum((speeds**2 + depth) ** 2)


def main():
    positions = jax.random.normal(jax.random.key(1), (16, 3))
    speeds = jnp.linspace(0.1, 1.0, 16)
    print(eqx.filter_grad(log_likelihood)(jnp.array([0.0, 0.3]), positions, speeds))


main()
