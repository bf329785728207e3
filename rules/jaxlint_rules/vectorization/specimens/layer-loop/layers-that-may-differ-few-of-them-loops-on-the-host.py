# layers that may differ, few of them, loops on the host

import jax
import jax.numpy as jnp

@jax.jit
def mlp(layers, x):
    for w, b in layers:
        x = jax.nn.relu(x @ w + b)
    return x

@jax.jit
def three(a, b, c, x):
    for w in (a, b, c):
        x = x + jnp.tanh(x @ w)
    return x

def host(layers, x):
    for w in layers:
        x = x + jnp.tanh(x @ w)
    return x

@jax.jit
def inputs(xs, ws, out):
    for i, x in enumerate(xs):
        out = out + x @ ws[i]
    return out

@jax.jit
def chain(functions, states, h):
    for update, state in zip(functions, states):
        h = update(h, state)
    return h

@jax.jit
def weighted(objects, coefficients):
    total = jax.tree.map(lambda x: x * coefficients[0], objects[0])
    for o, c in zip(objects[1:], coefficients[1:]):
        total = jax.tree.map(jnp.add, total, scale(o, c))
    return total

def scale(o, c):
    return jax.tree.map(lambda x: x * c, o)

@jax.jit
def total(xs):
    out = 0.0
    for x in xs:
        out = out + x.sum()
    return out

@jax.jit
def drawn(state, picture):
    if state.places.ndim == 1:
        return mark(picture, state.places)
    for place in state.places:
        picture = mark(picture, place)
    return picture

def mark(picture, place):
    return jax.lax.dynamic_update_slice(picture, jnp.ones((2, 2)), (place[0], place[1]))

@jax.jit
def spectra(tensors, found):
    for i, tensor in enumerate(tensors):
        values = jnp.linalg.svd(tensor, compute_uv=False)
        found = found.at[i, : values.shape[0]].set(values)
    return found
