# a method of a flax module that each iteration reads; one that is read once, and a function that a state keeps

import flax.linen as nn
import jax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x)


def again(params, batches):
    net = Net()
    for x in batches:
        x = jax.jit(net.apply)(params, x)  # finding
    return x


def once(params, batches):
    net = Net()
    apply = jax.jit(net.apply)
    for x in batches:
        x = apply(params, x)
    return x


def of_a_state(state, batches):
    for x in batches:
        x = jax.jit(state.apply_fn)(state.params, x)
    return x


def read_once(params, batches):
    apply = Net().apply
    for x in batches:
        x = jax.jit(apply)(params, x)
    return x


class Agent:
    def __init__(self):
        self.net = Net()
        self.forward = jax.jit(self.net.apply)

    def act(self, params, x):
        return jax.jit(self.net.apply)(params, x)  # finding

    def act_quickly(self, params, x):
        return self.forward(params, x)

    def run(self, params, batches):
        for x in batches:
            self.act(params, x)
            self.act_quickly(params, x)
