# source: exoplanet-dev/celerite2#78

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


class Oscillator:
    def __init__(self, amplitude, quality, period):
        self.amplitude = amplitude
        self.quality = quality
        self.period = period

    def covariance(self, lag):
        omega = 2 * jnp.pi / self.period
        decay = jnp.exp(-0.5 * omega * lag / self.quality)
        if self.quality < 0.5:  # finding
            return self.amplitude * decay * jnp.cosh(omega * lag)
        return self.amplitude * decay * jnp.cos(omega * lag)


def model(t, yerr, y=None):
    amplitude = numpyro.sample("amplitude", dist.HalfNormal(1.0))
    quality = numpyro.sample("quality", dist.LogNormal(0.0, 1.0))
    term = Oscillator(amplitude, quality, 2.0)
    cov = term.covariance(jnp.abs(t[:, None] - t[None])) + yerr**2 * jnp.eye(t.shape[0])
    numpyro.sample("y", dist.MultivariateNormal(0.0, cov), obs=y)


def main():
    t = jnp.linspace(0, 5, 12)
    mcmc = MCMC(NUTS(model), num_warmup=5, num_samples=5, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), t, 0.1, y=jnp.sin(t))


main()
