# source: pyro-ppl/numpyro#853

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(tank, volume, survived=None):
    a_bar = numpyro.sample("a_bar", dist.Normal(0, 1.5))
    num_volumes = jnp.unique(volume).size  # finding
    with numpyro.plate("volumes", num_volumes):
        s = numpyro.sample("s", dist.Normal(0, 0.5))
    numpyro.sample("obs", dist.Bernoulli(logits=a_bar + s[volume]), obs=survived)


def fit(tank, volume, survived, steps=20):
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
    return svi.run(jax.random.PRNGKey(0), steps, tank, volume, survived, progress_bar=False)


def main():
    tank = jnp.arange(12)
    volume = tank % 2
    survived = (tank > 4).astype(jnp.int32)
    print(fit(tank, volume, survived).losses[-1])


main()
