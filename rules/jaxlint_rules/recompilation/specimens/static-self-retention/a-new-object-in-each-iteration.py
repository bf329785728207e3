# a new object in each iteration

import functools
import jax
import jax.numpy as jnp

class Model:
    def __init__(self, seed):
        self.w = jax.random.normal(jax.random.key(seed), (64, 64))

    @functools.partial(jax.jit, static_argnums=0)
    def predict(self, x):
        return x @ self.w

    @functools.partial(jax.jit, static_argnames=("self",))
    def score(self, x):
        return (x @ self.w).sum()

def search(x):
    scores = []
    for seed in range(100):
        model = Model(seed)
        scores.append(model.predict(x))  # finding
    for seed in range(100):
        scores.append(Model(seed).score(x))  # finding
    return scores

search(jnp.ones(64))
