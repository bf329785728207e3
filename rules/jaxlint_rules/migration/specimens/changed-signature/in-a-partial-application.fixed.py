# in a partial application
from functools import partial

import jax.numpy as jnp

positive = partial(jnp.clip, min=0.0)
