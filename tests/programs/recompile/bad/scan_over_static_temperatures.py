# source: cgiovanetti/LINX#13
# blind: ninth

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("neff",))
def abundance(rates, neff):
    def step(x, rate):
        return x + rate * (1.0 - x) * jnp.sqrt(neff), x

    return jax.lax.scan(step, 0.0, rates)[0]


class Background:
    def __init__(self, rates):
        self.rates = rates

    def __call__(self, neff):
        return abundance(self.rates, neff=neff)  # finding-also


def sweep(model, low, high, n):
    out = {}
    for neff in np.linspace(low, high, n):
        out[float(neff)] = model(float(neff))  # finding
    return out


if __name__ == "__main__":
    print(len(sweep(Background(jnp.full(50, 0.01)), 2.5, 3.5, 30)))
