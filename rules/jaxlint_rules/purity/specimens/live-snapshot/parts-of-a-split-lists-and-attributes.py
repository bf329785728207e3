# parts of a split, lists of states, attributes, a state that is put back, and a target network

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)

@nnx.jit
def step(model, optimizer, x):
    grads = nnx.grad(lambda m: (m(x) ** 2).mean())(model)
    optimizer.update(model, grads)

@nnx.jit
def score(model, x):
    return model(x).mean()

x = np.ones((8, 4), np.float32)
model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

def search(model, optimizer, trials):
    best = (np.inf, None)
    graphdef = state = None
    for _ in range(trials):
        step(model, optimizer, x)
        now = score(model, x)
        if now < best[0]:
            best = (now, None)
            graphdef, state = nnx.split(model)  # finding
    return nnx.merge(graphdef, state)

def trajectory(model, optimizer, trials):
    states = []
    for _ in range(trials):
        step(model, optimizer, x)
        states.append(nnx.state(model, nnx.Param))  # finding
    return states

class Trainer:
    def __init__(self, rngs):
        self.model = Net(rngs)
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-3), wrt=nnx.Param)
        self.best, self.best_state = np.inf, None

    def run(self, epochs):
        for _ in range(epochs):
            step(self.model, self.optimizer, x)
            now = score(self.model, x)
            if now < self.best:
                self.best = now
                self.best_state = nnx.split(self.model)[1]  # finding

    def restore(self):
        nnx.update(self.model, self.best_state)

def probe(model, optimizer):
    before = nnx.state(model)  # finding
    step(model, optimizer, x)
    nnx.update(model, before)

class Learner:
    def __init__(self, rngs):
        self.online = Net(rngs)
        self.target = nnx.merge(*nnx.split(self.online))  # finding
        self.optimizer = nnx.Optimizer(self.online, optax.adam(1e-3), wrt=nnx.Param)

    def learn(self, x):
        goal = self.target(x)
        grads = nnx.grad(lambda m: jnp.mean((m(x) - goal) ** 2))(self.online)
        self.optimizer.update(self.online, grads)

search(model, optimizer, 5)
trajectory(model, optimizer, 5)
trainer = Trainer(nnx.Rngs(0))
trainer.run(5)
trainer.restore()
probe(model, optimizer)
Learner(nnx.Rngs(0)).learn(x)
