# copies of all kinds, a name that is bound anew, and sums of two items of one dict
import copy

import jax
import jax.numpy as jnp
from flax import nnx


def init():
    return {"w": jnp.zeros(3), "b": jnp.zeros(())}


class Critic:
    def __init__(self, tau=0.005):
        self.online = init()
        self.target = dict(self.online)
        self.best = self.online.copy()
        self.old = copy.deepcopy(self.online)
        self.tau = tau

    def learn(self, grads):
        for name, g in grads.items():
            self.online[name] = self.online[name] - 0.1 * g
        for name in self.target:
            self.target[name] = (1 - self.tau) * self.target[name] + self.tau * self.online[name]
            self.best[name] = (1 - self.tau) * self.best[name] + self.tau * self.online[name]
            self.old[name] = (1 - self.tau) * self.old[name] + self.tau * self.online[name]


@jax.jit
def step(params, grads):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def train(grads, steps):
    params = init()
    ema = params
    for _ in range(steps):
        ema = {k: 0.9 * ema[k] + 0.1 * params[k] for k in params}
        params = step(params, grads)
    return ema


def later(grads, steps):
    params = init()
    ema = params
    for _ in range(steps):
        params = step(params, grads)
        for k in params:
            ema[k] = 0.9 * ema[k] + 0.1 * params[k]
    return ema


def mixed(table, i, j):
    same = table
    return 0.5 * table[i] + 0.5 * same[j]


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(3, 1, rngs=rngs)


class Agent:
    def __init__(self):
        self.online = Net(nnx.Rngs(0))
        self.target = nnx.clone(self.online)
        self.merged = nnx.merge(*nnx.split(self.online))
        self.copied = copy.deepcopy(self.online)
        self.other = Net(nnx.Rngs(1))

    def sync(self):
        nnx.update(self.target, nnx.state(self.online))
        nnx.update(self.merged, nnx.state(self.online))
        nnx.update(self.copied, nnx.state(self.online))
        nnx.update(self.other, nnx.state(self.online))
        nnx.update(self.online, jax.tree.map(jnp.zeros_like, nnx.state(self.online)))


def switched(steps):
    net = Net(nnx.Rngs(0))
    target = net
    for _ in range(steps):
        net = Net(nnx.Rngs(1))
        nnx.update(target, nnx.state(net))
    return target


Agent().sync()
Critic().learn(jax.tree.map(jnp.ones_like, init()))
