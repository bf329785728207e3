# blind: tenth

import jax
import jax.numpy as jnp


def solve(f, x, tol=1e-5):
    df = jax.grad(f)
    while jnp.abs(f(x)) > tol:  # finding
        x = x - f(x) / df(x)
    return x


@jax.jit
def implied_volatility(price):
    return solve(lambda s: s**3 + s - price, 1.0)


print(implied_volatility(3.0))
