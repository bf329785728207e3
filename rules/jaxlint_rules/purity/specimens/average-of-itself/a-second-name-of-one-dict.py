# a target network and a moving average that are another name of the parameters
import jax
import jax.numpy as jnp
from flax import nnx


def init():
    return {"w": jnp.zeros(3), "b": jnp.zeros(())}


class Critic:
    def __init__(self, tau=0.005):
        self.online = init()
        self.target = self.online
        self.tau = tau

    def learn(self, grads):
        for name, g in grads.items():
            self.online[name] = self.online[name] - 0.1 * g
        for name in self.target:
            self.target[name] = (1 - self.tau) * self.target[name] + self.tau * self.online[name]  # finding


def train(grads, steps):
    params = init()
    ema = params
    for _ in range(steps):
        for k in params:
            params[k] = params[k] - 0.1 * grads[k]
        for k, v in params.items():
            ema[k] = 0.9 * ema[k] + 0.1 * v  # finding
    return ema


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(3, 1, rngs=rngs)


class Agent:
    def __init__(self):
        self.online = Net(nnx.Rngs(0))
        self.target = self.online

    def sync(self):
        nnx.update(self.target, nnx.state(self.online))  # finding


def mixed(steps):
    net = Net(nnx.Rngs(0))
    target = net
    for _ in range(steps):
        state = jax.tree.map(lambda t, o: 0.9 * t + 0.1 * o, nnx.state(target), nnx.state(net))
        nnx.update(target, jax.tree.map(lambda t, o: 0.9 * t + 0.1 * o, nnx.state(target), nnx.state(net)))  # finding
    return state


Agent().sync()
Critic().learn(jax.tree.map(jnp.ones_like, init()))
