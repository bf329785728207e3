# source: google-deepmind/weathernext#41
# blind: ninth

from functools import partial

import jax
import jax.numpy as jnp
from scipy.stats import norm


def d1(spot, strike, vol, t):
    return (jnp.log(spot / strike) + 0.5 * vol**2 * t) / (vol * jnp.sqrt(t))


def call_price(spot, strike, vol, t):
    a = d1(spot, strike, vol, t)
    return spot * norm.cdf(a) - strike * norm.cdf(a - vol * jnp.sqrt(t))  # finding


@partial(jax.vmap, in_axes=(0, None, None, None))
def delta(spot, strike, vol, t):
    return jax.grad(call_price)(spot, strike, vol, t)


def book(spots):
    return jax.jit(delta)(spots, 100.0, 0.2, 1.0)


if __name__ == "__main__":
    print(book(jnp.linspace(80.0, 120.0, 5)))
