# a clock and NumPy's generator under jit
import time

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def f(x):
    started = time.time()  # finding: impure-call
    noise = np.random.normal(size=3)  # finding: impure-call
    return x + started + noise

f(jnp.ones(3))
