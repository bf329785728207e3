# source: GalacticDynamics/galax#692
# blind: third

import equinox as eqx
import jax
import jax.numpy as jnp


class MultipolePotential(eqx.Module):
    s_lm: jax.Array
    t_lm: jax.Array
    l_max: int = eqx.field(static=True)
    normalise: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        shape = (self.l_max + 1, self.l_max + 1)
        if self.s_lm.shape != shape or self.t_lm.shape != shape:
            raise ValueError("coefficients must be square in l_max + 1")
        if self.l_max < 0:
            raise ValueError("l_max must not be negative")

    def energy(self, r):
        powers = r ** -(1.0 + jnp.arange(self.l_max + 1))
        total = jnp.sum(self.s_lm @ powers) + jnp.sum(self.t_lm @ powers)
        return total / (self.l_max + 1) if self.normalise else total


@jax.jit
def force(theta, r):
    n = theta.shape[0]
    pot = MultipolePotential(s_lm=jnp.diag(theta), t_lm=jnp.zeros((n, n)), l_max=n - 1)
    return -jax.grad(pot.energy)(r)


if __name__ == "__main__":
    print(force(jnp.array([1.0, 0.5]), 2.0))
