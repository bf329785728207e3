# helpers that ask

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def train_step(params, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    return params - 0.1 * grads, loss

def is_bad(loss):
    return not np.isfinite(loss)  # finding

def is_worse(loss):
    return not np.isfinite(loss)

class Stopping:
    best = float("inf")
    bad = 0

    def update(self, loss):
        if loss < self.best:  # finding
            self.best = loss
        else:
            self.bad += 1
        return self.bad > 10

def guarded(params, xs):
    for x in xs:
        params, loss = train_step(params, x)
        if is_bad(loss):
            raise FloatingPointError
    return params

def stopped(params, xs):
    stopping = Stopping()
    for x in xs:
        params, loss = train_step(params, x)
        if stopping.update(loss):
            break
    return params

def seldom(params, xs):
    for i, x in enumerate(xs):
        params, loss = train_step(params, x)
        if i % 100 == 0 and is_worse(loss):
            raise FloatingPointError
    return params

xs = [jnp.ones((8, 4))] * 300
guarded(jnp.ones(4), xs), stopped(jnp.ones(4), xs), seldom(jnp.ones(4), xs)
