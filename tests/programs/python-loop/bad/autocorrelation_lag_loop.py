# source: jax-ml/jax#402
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def autocorrelation(x):
    x = x - jnp.mean(x)
    lags = []
    for lag in range(100):  # finding
        lags.append(jnp.mean(x * jnp.roll(x, lag)))
    return jnp.stack(lags) / jnp.var(x)


if __name__ == "__main__":
    print(autocorrelation(jnp.sin(jnp.arange(1000.0)))[:3])
