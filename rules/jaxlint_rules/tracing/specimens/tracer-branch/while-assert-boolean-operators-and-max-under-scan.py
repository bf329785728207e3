# while, assert, boolean operators and max under scan

import jax
import jax.numpy as jnp
from jax import lax

def body(carry, x):
    assert carry > 0  # finding
    while carry < x:  # finding
        carry = carry * 2
    both = carry > 0 and x > 0  # finding
    return max(carry, x), both  # finding

def run(xs):
    return lax.scan(body, jnp.float32(1.0), xs)
