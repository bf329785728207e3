# static arguments behind arguments that are unpacked
import functools
import jax
import jax.numpy as jnp

class Solver:
    @functools.partial(jax.jit, static_argnums=(0, 5))
    def hessian(self, controls, states, lower, upper, gauss_newton, weight):
        if gauss_newton:
            return states * weight
        return controls

    @functools.partial(jax.jit, static_argnums=(0,))
    def solve(self, primals, duals):
        return self.hessian(*primals, *duals, self.method == "gauss-newton", 1.0)

Solver().solve(jnp.ones((2, 3)), jnp.ones((2, 3)))
