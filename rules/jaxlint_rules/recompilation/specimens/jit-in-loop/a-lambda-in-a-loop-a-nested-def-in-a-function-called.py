# a lambda in a loop, a nested def in a function called in a loop

import jax

def update(p, b, lr):
    return p - lr * b

def train(params, batches):
    for batch in batches:
        step = jax.jit(lambda p, b: update(p, b, 0.1))  # finding
        params = step(params, batch)
    return params

def epoch(params, batches, lr):
    @jax.jit
    def step(p, b):  # finding
        return update(p, b, lr)
    for batch in batches:
        params = step(params, batch)
    return params

def fit(params, batches, epochs):
    for _ in range(epochs):
        params = epoch(params, batches, 0.1)
    return params

def returned_at_once(params):
    def halved(p):
        return p / 2
    return jax.jit(halved)(params)  # finding

def fit_at_once(params, batches):
    for _ in batches:
        params = returned_at_once(params)
    return params

class Model:
    def step(self, x):
        return 2.0 * x

    def run(self, x):
        return jax.jit(self.step)(x)  # finding

def repeat(x):
    model = Model()
    for _ in range(10):
        x = jax.jit(model.step)(x)  # finding
    for _ in range(10):
        x = model.run(x)
    return x
