# statistics of a batch normalisation that nothing reads

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

    (loss, new_state), grads = jax.value_and_grad(loss_fn, has_aux=True)(variables["params"])  # finding
    params = jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], grads)
    return {"params": params, "batch_stats": variables["batch_stats"]}, loss


@jax.jit
def warm_up(variables, x):
    out, stats = net.apply(variables, x, train=True, mutable="batch_stats")  # finding
    return out.mean()


forward = hk.transform_with_state(lambda x: hk.BatchNorm(True, True, 0.9)(x, True))


@jax.jit
def step(params, state, x):
    out, new_state = forward.apply(params, state, None, x)  # finding
    return out, state
