# a clock and NumPy's global generator

import datetime
import time
import jax
import numpy as np

rng = np.random.default_rng(0)

@jax.jit
def noisy(x):
    seed = time.time()  # finding
    day = datetime.datetime.now().day  # finding
    time.sleep(0.1)  # finding
    return x + np.random.normal() * seed + rng.normal() * day  # finding
