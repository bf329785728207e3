# source: SharmaLlama/ticktack#19
# blind: third

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline


class CarbonFitter:
    def __init__(self, years, d14c):
        self.years = jnp.asarray(years)
        self.d14c = jnp.asarray(d14c)
        self.decay = float(np.log(2) / 5730)

    def production(self, t, knots):
        spline = CubicSpline(np.linspace(0.0, 10.0, knots.shape[0]), knots)  # finding
        return spline(t)

    @partial(jax.jit, static_argnums=0)
    def simulate(self, knots):
        q = self.production(self.years, knots)
        return jnp.cumsum(q) - self.decay * self.years

    def chi2(self, knots):
        return jnp.sum((self.simulate(knots) - self.d14c) ** 2)


if __name__ == "__main__":
    years = np.linspace(0.0, 10.0, 21)
    fitter = CarbonFitter(years, np.sin(years))
    print(jax.grad(fitter.chi2)(jnp.ones(5)))
