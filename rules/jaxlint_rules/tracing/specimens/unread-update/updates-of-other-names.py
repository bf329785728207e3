# updates of what was taken out of a container, handed in, or run over

import jax
import jax.numpy as jnp


@jax.jit
def sgd(params, grads, lr):
    for name in params:
        w = params[name]
        w = w - lr * grads[name]  # finding
    return params


def reset_rows(state, done):
    obs = state["obs"]
    obs = obs.at[0].set(0.0)  # finding
    state["steps"] = jnp.where(done, 0, state["steps"])
    return state


@jax.jit
def clear(buffer, index):
    buffer = buffer.at[index].set(0.0)  # finding


@jax.jit
def scale(xs):
    for x in xs:
        x = x * 2  # finding
    return xs


class Layer:
    def decay(self):
        w = self.w
        w = jax.tree.map(lambda p: p * 0.9, w)  # finding


def two_layers(inputs, first, second):
    x, edges = inputs
    out = edges @ (x @ first)
    x = jax.nn.relu(x)  # finding
    return edges @ (out @ second)


def last_layer(inputs, first):
    x, edges = inputs
    x = jax.nn.relu(edges @ (x @ first))
    return x


reset_rows({"obs": jnp.ones((2, 2)), "steps": jnp.zeros(2)}, jnp.array(True))
