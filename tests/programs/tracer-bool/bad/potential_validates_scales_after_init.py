# source: GalacticDynamics/galax#692
# blind: third

import equinox as eqx
import jax
import jax.numpy as jnp


class LogarithmicHalo(eqx.Module):
    v0: jax.Array
    core: jax.Array
    q: jax.Array

    def __check_init__(self):
        if self.core <= 0 or self.q <= 0:  # finding
            raise ValueError("core radius and flattening must be positive")

    def energy(self, xyz):
        r2 = xyz[0] ** 2 + xyz[1] ** 2 + (xyz[2] / self.q) ** 2
        return 0.5 * self.v0**2 * jnp.log(self.core**2 + r2)


def log_likelihood(theta, stars):
    halo = LogarithmicHalo(v0=theta[0], core=theta[1], q=theta[2])
    acc = jax.vmap(jax.grad(halo.energy))(stars)
    return -0.5 * jnp.sum(acc**2)


fit_step = jax.jit(jax.value_and_grad(log_likelihood))

if __name__ == "__main__":
    stars = jnp.ones((5, 3))
    print(fit_step(jnp.array([220.0, 1.0, 0.9]), stars))
