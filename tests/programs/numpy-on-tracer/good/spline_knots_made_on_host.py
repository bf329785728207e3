# source: SharmaLlama/ticktack#19
# blind: third

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline


class CarbonFitter:
    def __init__(self, years, d14c, prior):
        self.years = np.asarray(years)
        self.d14c = jnp.asarray(d14c)
        self.background = self._background(prior)
        self.decay = float(np.log(2) / 5730)

    def _background(self, prior):
        spline = CubicSpline(np.linspace(0.0, 10.0, len(prior)), prior)
        return jnp.asarray(spline(self.years))

    @partial(jax.jit, static_argnums=0)
    def simulate(self, knots):
        grid = np.linspace(0.0, 10.0, knots.shape[0])
        q = jnp.interp(self.years, grid, knots) + self.background
        return jnp.cumsum(q) - self.decay * np.diff(self.years, prepend=0.0)

    def chi2(self, knots):
        return jnp.sum((self.simulate(knots) - self.d14c) ** 2)


if __name__ == "__main__":
    years = np.linspace(0.0, 10.0, 21)
    fitter = CarbonFitter(years, np.sin(years), np.ones(6))
    print(jax.grad(fitter.chi2)(jnp.ones(5)))
