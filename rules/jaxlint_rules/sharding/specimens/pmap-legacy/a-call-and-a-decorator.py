# a call and a decorator

import functools
import jax

step = jax.pmap(lambda x: 2 * x)  # finding

@functools.partial(jax.pmap, axis_name="batch")  # finding
def train(params, batch):
    return params + jax.lax.pmean(batch, "batch")
