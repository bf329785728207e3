# the values of a constant, which is staged out as everything is

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO

MASK = jnp.arange(4) > 1
HOST = np.arange(4) > 1

def model(groups, y=None):
    count = jnp.unique(groups).size  # finding
    with numpyro.plate("groups", count):
        level = numpyro.sample("level", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(level[groups], 1.0), obs=y)

def guide(groups, y=None):
    numpyro.sample("level", dist.Normal(0.0, 1.0).expand([len(np.unique(groups))]))

def fit(key, y):
    svi = SVI(model, guide, numpyro.optim.Adam(0.1), Trace_ELBO())
    return svi.run(key, 100, jnp.array([0, 0, 1, 1]), y)

@jax.jit
def pick(x):
    return x[jnp.flatnonzero(MASK)], x[np.flatnonzero(HOST)]  # finding

def eager(x):
    rows = jnp.flatnonzero(MASK)
    return x[rows], jax.vmap(lambda row: row[jnp.nonzero(MASK)])(x)
