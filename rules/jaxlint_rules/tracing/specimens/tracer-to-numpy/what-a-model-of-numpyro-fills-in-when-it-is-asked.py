# what a model of numpyro fills in when it is asked first, on the host

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO

class Model:
    def __init__(self, tasks=None):
        self.tasks = tasks

    def model(self, x):
        if self.tasks is None:
            self.tasks = len(np.unique(x[:, -1]))
        scale = numpyro.sample("scale", dist.HalfNormal())
        numpyro.sample("y", dist.Normal(0.0, np.exp(scale)), obs=x[:, 0])  # finding

    def guide(self, x):
        numpyro.sample("scale", dist.HalfNormal())

def fit(model, x, keys):
    svi = SVI(model.model, model.guide, numpyro.optim.Adam(1e-3), Trace_ELBO())
    return jax.vmap(lambda key: svi.run(key, 100, x))(keys)

fit(Model(), jnp.ones((3, 2)), jax.random.split(jax.random.key(0)))
