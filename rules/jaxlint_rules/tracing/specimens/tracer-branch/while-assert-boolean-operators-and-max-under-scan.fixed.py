# while, assert, boolean operators and max under scan

import jax
import jax.numpy as jnp
from jax import lax

def body(carry, x):
    assert carry > 0

    def cond_fun(carry):
        return carry < x

    def body_fun(carry):
        carry = carry * 2
        return carry

    carry = lax.while_loop(cond_fun, body_fun, carry)
    both = (carry > 0) & (x > 0)
    return jnp.maximum(carry, x), both

def run(xs):
    return lax.scan(body, jnp.float32(1.0), xs)
