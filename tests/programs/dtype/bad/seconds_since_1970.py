# source: gbionics/jaxsim#225
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def load_events():
    start = 1_700_000_000.0
    return start + np.cumsum(np.random.default_rng(0).exponential(3.0, 200))


@jax.jit
def hawkes_log_likelihood(params, times):
    gaps = jnp.diff(times)
    rate = params["mu"] + params["alpha"] * jnp.exp(-params["beta"] * gaps)
    return jnp.sum(jnp.log(rate)) - params["mu"] * (times[-1] - times[0])


def main():
    times = jnp.asarray(load_events())  # finding
    params = {"mu": 0.3, "alpha": 0.5, "beta": 1.0}
    return hawkes_log_likelihood(params, times)


if __name__ == "__main__":
    print(main())
