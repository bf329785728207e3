# source: GalacticDynamics/galax#692

import equinox as eqx
import jax
import jax.numpy as jnp


class Halo(eqx.Module):
    mass: jax.Array
    flattening: jax.Array
    order: int = eqx.field(static=True, default=2)

    def __check_init__(self):
        if self.order not in (1, 2):
            raise ValueError("order is 1 or 2")

    def potential(self, q):
        flattening = eqx.error_if(self.flattening, self.flattening <= 0, "flattening must be positive")
        r2 = q[0] ** 2 + q[1] ** 2 + (q[2] / flattening) ** 2
        if self.order == 1:
            return -self.mass / jnp.sqrt(r2 + 1.0)
        return -self.mass * jnp.log1p(r2)


@eqx.filter_jit
def energy(halo, positions):
    return jax.vmap(halo.potential)(positions).sum()


print(energy(Halo(jnp.array(1.0), jnp.array(0.8)), jnp.ones((4, 3))))
