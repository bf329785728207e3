# all that an object has gathered

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def fit(w, xs, ys):
    return w - 0.1 * jnp.mean(xs @ w - ys)

class Memory:
    def __init__(self):
        self.xs, self.ys, self.last = [], [], []

    def add(self, x, y):
        self.xs.append(x)
        self.ys.append(y)
        self.last.append(x)
        if len(self.last) > 8:
            self.last.pop(0)

    def everything(self):
        return np.stack(self.xs), np.array(self.ys)

    def recent(self):
        return np.stack(self.last)

    def draw(self, rows):
        return np.stack([self.xs[i] for i in rows])

class Learner:
    def __init__(self, w):
        self.w, self.memory, self.seen = w, Memory(), []

    def observe(self, x, y):
        self.memory.add(x, y)
        xs, ys = self.memory.everything()
        self.w = fit(self.w, xs, ys)  # finding
        self.w = fit(self.w, self.memory.recent(), 0.0)
        self.w = fit(self.w, self.memory.draw([0, 0, 0]), 0.0)

    def follow(self, x):
        self.seen.append(x)
        self.w = fit(self.w, jnp.stack(self.seen), 0.0)  # finding

    def refit(self, epochs):
        xs, ys = self.memory.everything()
        for _ in range(epochs):
            self.w = fit(self.w, xs, ys)

def run(data):
    learner = Learner(jnp.ones(3))
    for x, y in data:
        learner.observe(x, y)
        learner.follow(x)
    learner.refit(10)
    return learner.w

run([(np.ones(3), 1.0)] * 9)
