# statistics that are kept, handed on, left on purpose, or asked for to be looked at

import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        return nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))


net = Net()


@jax.jit
def train_step(variables, x):
    def loss_fn(params):
        stats = variables["batch_stats"]
        out, new_state = net.apply({"params": params, "batch_stats": stats}, x, train=True, mutable=["batch_stats"])
        return jnp.mean(out**2), new_state

    (loss, new_state), grads = jax.value_and_grad(loss_fn, has_aux=True)(variables["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], grads)
    return {"params": params, **new_state}, loss


@jax.jit
def second_pass(variables, x):
    out, _ = net.apply(variables, x, train=True, mutable=["batch_stats"])
    inner, intermediates = net.apply(variables, x, train=False, mutable=["intermediates"])
    return out.mean(), inner


def start(key, x):
    out, variables = net.init_with_output(key, x, train=False)
    return out


forward = hk.transform_with_state(lambda x: hk.BatchNorm(True, True, 0.9)(x, True))


@jax.jit
def step(params, state, x):
    out, state = forward.apply(params, state, None, x)
    return out, state


def try_out(x):
    variables = net.init(jax.random.key(0), x, train=False)
    out, statistics = net.apply(variables, x, train=True, mutable=["batch_stats"])
    variables = net.init(jax.random.key(1), out, train=False)
    return net.apply(variables, out, train=False)
