# a seed that callers pass

from functools import partial

import jax

@partial(jax.jit, static_argnums=0)
def track(seed, length):
    key = jax.random.PRNGKey(seed)
    return length * jax.random.uniform(key, (3,))

def tracks(length):
    return [track(0, length), track(1, length)]
