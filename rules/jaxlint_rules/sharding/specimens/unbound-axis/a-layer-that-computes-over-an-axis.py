# batch normalization of equinox: without its axis, with it, and in inference
import equinox as eqx
import jax
import jax.numpy as jnp


class Net(eqx.Module):
    first: eqx.nn.Linear
    norm: eqx.nn.BatchNorm

    def __init__(self, key):
        self.first = eqx.nn.Linear(4, 16, key=key)
        self.norm = eqx.nn.BatchNorm(16, axis_name="batch", mode="batch")

    def __call__(self, x, state):
        return self.norm(self.first(x), state)  # finding


class Other(eqx.Module):
    norm: eqx.nn.BatchNorm

    def __init__(self):
        self.norm = eqx.nn.BatchNorm(4, "batch", mode="batch")

    def __call__(self, x, state):
        return self.norm(x, state)


@eqx.filter_jit
def forgotten(model, state, xs):
    return jax.vmap(model, in_axes=(0, None), out_axes=(0, None))(xs, state)


@eqx.filter_jit
def bound(model, state, xs):
    return jax.vmap(model, in_axes=(0, None), out_axes=(0, None), axis_name="batch")(xs, state)


@eqx.filter_jit
def evaluated(model, state, xs):
    quiet = eqx.nn.inference_mode(model)
    return jax.vmap(quiet, in_axes=(0, None), out_axes=(0, None))(xs, state)


xs = jnp.ones((8, 4))
net, net_state = eqx.nn.make_with_state(Net)(jax.random.key(0))
print(forgotten(net, net_state, xs))
other, other_state = eqx.nn.make_with_state(Other)()
print(bound(other, other_state, xs), evaluated(other, other_state, xs))
