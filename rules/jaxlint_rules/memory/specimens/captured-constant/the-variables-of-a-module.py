# the variables of a module

import functools
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(x)

def serve(key, x):
    net = Net()
    variables = net.init(key, x)
    predict = jax.jit(lambda x: net.apply(variables, x))  # finding
    better = jax.jit(net.apply)
    return predict(x) + better(variables, x)

critic = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([300, 1])(x)))

def judge(key, x):
    params = critic.init(key, x)
    score = jax.jit(lambda x: critic.apply(params, x))  # finding
    return score(x), jax.jit(critic.apply)(params, x)

def bound(key, x):
    net = Net()
    variables = net.init(key, x)
    apply = functools.partial(net.apply, variables)
    late = functools.partial(net.apply, method="__call__")
    return jax.jit(functools.partial(net.apply, variables)), jax.jit(apply), jax.jit(late)  # finding
