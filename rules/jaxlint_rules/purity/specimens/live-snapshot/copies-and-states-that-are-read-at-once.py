# copies, states that are read at once, and states that are meant to follow

import copy

import jax
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

def search(model, optimizer, save, trials):
    best, best_state, best_model, pure = np.inf, None, None, None
    for trial in range(trials):
        step(model, optimizer, x)
        now = score(model, x)
        if now < best:
            best = now
            best_state = jax.tree.map(jnp.copy, nnx.state(model))
            best_model = nnx.clone(model)
            pure = nnx.to_pure_dict(nnx.state(model))
            other = copy.deepcopy(nnx.state(model))
            save(nnx.state(model))
            graphdef, state = nnx.split(model)
            save(state)
        if trial % 10 == 0:
            last_state = nnx.state(model)
        state = nnx.state(model)
    save(state)
    save(last_state)
    nnx.update(model, best_state)
    return best_model, pure, other

def functional(model, xs):
    graphdef, state = nnx.split(model)

    @jax.jit
    def advance(state, x):
        net = nnx.merge(graphdef, state)
        grads = nnx.grad(lambda m: (m(x) ** 2).mean())(net)
        return jax.tree.map(lambda p, g: p - 0.1 * g, state, nnx.state(grads))

    best, best_state = np.inf, None
    for x in xs:
        state = advance(state, x)
        if float(x.sum()) < best:
            best_state = state
    nnx.update(model, state)
    return best_state

def loaded(model, read):
    _, abstract = nnx.split(model)
    restored = read(abstract)
    nnx.update(model, restored)

class Learner:
    def __init__(self, rngs):
        self.online = Net(rngs)
        self.target = nnx.clone(self.online)
        graphdef, state = nnx.split(self.online)
        self.old = nnx.merge(graphdef, jax.tree.map(jnp.copy, state))
        self.for_evaluation = nnx.merge(graphdef, state)
        self.optimizer = nnx.Optimizer(self.online, optax.adam(1e-3), wrt=nnx.Param)

    def learn(self, x):
        goal = self.target(x)
        grads = nnx.grad(lambda m: jnp.mean((m(x) - goal) ** 2))(self.online)
        self.optimizer.update(self.online, grads)
        nnx.update(self.target, nnx.state(self.online))

def ensemble(seeds):
    states = []
    for seed in seeds:
        net = Net(nnx.Rngs(seed))
        tuned = nnx.Optimizer(net, optax.adam(1e-3), wrt=nnx.Param)
        step(net, tuned, x)
        states.append(nnx.state(net))
    return states

search(model, optimizer, print, 5)
functional(model, [x, x])
Learner(nnx.Rngs(0)).learn(x)
ensemble(range(3))
