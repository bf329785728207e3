# a key that is made of the same seed for each step

import haiku as hk
import jax

SEED = 42

@jax.jit
def step(w, key):
    return w + jax.random.normal(key, w.shape), w.sum()

@jax.jit
def evaluate(w, key):
    return w, jax.random.normal(key, w.shape).sum()

def next_key():
    keys = hk.PRNGSequence(SEED)
    return next(keys)

def train(w, steps, seed):
    for _ in range(steps):
        w, _ = step(w, jax.random.PRNGKey(0))  # finding
        w, _ = step(w, next_key())  # finding
        w, _ = step(w, {"noise": next_key()})  # finding
        key = jax.random.key(seed)  # finding
        w, _ = step(w, key)
    return w

class Trainer:
    def __init__(self, w, seed):
        self.w, self.seed = w, seed

    def update(self):
        self.w, loss = step(self.w, jax.random.key(self.seed))  # finding
        return loss

    def fit(self, steps):
        for _ in range(steps):
            loss = self.update()
        return loss

def renewed(w, steps, keys, seeds):
    sequence = hk.PRNGSequence(SEED)
    for i in range(steps):
        w, _ = step(w, next(sequence))
        w, _ = step(w, jax.random.key(i))
        w, _ = step(w, jax.random.fold_in(jax.random.key(0), i))
        w, _ = evaluate(w, jax.random.key(0))
        start, _ = step(keys, jax.random.key(0))
    for seed in seeds:
        w, _ = step(w, jax.random.key(seed))
    return w, start

train(1.0, 10, 0), Trainer(1.0, 0).fit(10), renewed(1.0, 10, [], [0])
