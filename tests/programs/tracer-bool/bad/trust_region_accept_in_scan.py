# source: jax-ml/jax#16430
# blind: eighteenth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class TRState(NamedTuple):
    x: jax.Array
    radius: jax.Array
    fval: jax.Array


class TrustRegion:
    """A tiny trust-region minimiser with a Cauchy step."""

    def __init__(self, fun, eta=0.1, max_radius=2.0):
        self.fun = fun
        self.eta = eta
        self.max_radius = max_radius

    def init(self, x0):
        return TRState(x0, jnp.asarray(0.5), self.fun(x0))

    def _cauchy(self, state):
        g = jax.grad(self.fun)(state.x)
        gn = jnp.sqrt(jnp.vdot(g, g) + 1e-12)
        return -state.radius * g / gn, state.radius * gn

    def update(self, state, _):
        p, predicted = self._cauchy(state)
        trial = self.fun(state.x + p)
        rho = (state.fval - trial) / predicted
        if rho > self.eta:  # finding
            new = TRState(state.x + p, jnp.minimum(2 * state.radius, self.max_radius), trial)
        else:
            new = TRState(state.x, 0.25 * state.radius, state.fval)
        return new, new.fval

    def run(self, x0, steps=20):
        return jax.lax.scan(self.update, self.init(x0), None, length=steps)


if __name__ == "__main__":
    solver = TrustRegion(lambda x: jnp.sum((x - 1.0) ** 2))
    final, trace = solver.run(jnp.zeros(3))
    print(final.x, trace[-1])
