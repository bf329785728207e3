# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def load_events():
    return 1_700_000_000.0 + np.cumsum(np.random.default_rng(0).exponential(3.0, 200))


@jax.jit
def log_likelihood(params, times):
    gaps = jnp.diff(times)
    rate = params["mu"] + params["alpha"] * jnp.exp(-params["beta"] * gaps)
    return jnp.sum(jnp.log(rate)) - params["mu"] * (times[-1] - times[0])


def main():
    stamps = load_events()
    times = jnp.asarray(stamps - stamps[0], dtype=jnp.float32)
    return log_likelihood({"mu": 0.3, "alpha": 0.5, "beta": 1.0}, times)


if __name__ == "__main__":
    print(main())
