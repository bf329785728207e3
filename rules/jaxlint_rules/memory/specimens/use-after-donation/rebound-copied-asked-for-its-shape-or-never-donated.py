# rebound, copied, asked for its shape, or never donated

from functools import partial
import jax
import jax.numpy as jnp
import numpy as np

@partial(jax.jit, donate_argnums=0)
def step(params, batch):
    return jax.tree.map(lambda p: p - 0.1 * batch.mean(), params)

@jax.jit
def whole(params, batch):
    new = step(params, batch)
    return jax.tree.map(jnp.subtract, new, params)

def train(params, batches):
    target = jax.tree.map(jnp.copy, params)
    best = params = step(params, batches[0])
    for batch in batches:
        params = step(params, batch * target["w"].mean())
        best = jax.tree.map(jnp.array, params)
    print(jax.tree.map(jnp.shape, params))
    return params, best, target

def shapes(x, batch):
    y = step(x, batch)
    return y, x.shape, x.dtype

def remembered(x, batches):
    for batch in batches:
        before, kind = x.shape, x.dtype
        x = step(x, batch)
        assert x.shape == before and x.dtype == kind
    return x

def host(batch):
    x = np.ones(3)
    y = step(x, batch)
    return y + x

def either(x, batch, donate):
    if donate:
        return step(x, batch)
    return x + batch

class Agent:
    def __init__(self, params):
        self.params = params
        self.target = jax.tree.map(jnp.copy, params)

    def learn(self, batch):
        self.params = step(self.params, batch @ self.target["w"])
        return self.params
