# the weights of two models from one key; targets, copies, other arguments, keys that are split

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x)


class Pair:
    def __init__(self):
        self.net = Net()

    def both(self, rngs, shape):
        forward = self.net.init(rngs, jnp.ones(shape))["params"]
        backward = self.net.init(rngs, jnp.ones(shape))["params"]  # finding
        return forward, backward


def critics(key, x):
    net = Net()
    first = net.init(key, x)
    second = net.init(key, x)  # finding
    return first, second


def with_target(key, x):
    net = Net()
    params = net.init(key, x)
    target_params = net.init(key, x)
    return params, target_params


def given_to_a_target(create, key, x):
    net = Net()
    return create(params=net.init(key, x), target_params=net.init(key, x))


def split_between(key, x):
    net = Net()
    key, draw = jax.random.split(key)
    first = net.init(draw, x)
    key, draw = jax.random.split(key)
    second = net.init(draw, x)
    return first, second


def of_another_size(key, x):
    net = Net()
    first = net.init(key, x)
    second = net.init(key, x[:, :2])
    return first, second


def one_or_the_other(key, x, large):
    net = Net()
    if large:
        first = net.init(key, x)
    else:
        second = net.init(key, x)
        first = second
    return first


def goes_on(key, x):
    params = Net().init(key, x)
    key, draw = jax.random.split(key)
    return params, jax.random.normal(draw, x.shape)


x = jnp.ones((2, 3))
Pair().both({"params": jax.random.key(0)}, (2, 3))
for function in (critics, with_target, split_between, of_another_size, goes_on):
    function(jax.random.key(0), x)
one_or_the_other(jax.random.key(0), x, True)
given_to_a_target(dict, jax.random.key(0), x)
