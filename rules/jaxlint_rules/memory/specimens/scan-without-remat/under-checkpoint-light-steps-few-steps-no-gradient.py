# under checkpoint, light steps, few steps, no gradient, a gradient inside of the step

import functools
import jax
import jax.numpy as jnp

def block(layer, h):
    return h + jax.nn.gelu(h @ layer["up"]) @ layer["down"]

@functools.partial(jax.checkpoint, prevent_cse=False)
def kept(h, layer):
    return block(layer, h), None

light_block = jax.checkpoint(block)

def forward(params, x):
    h, _ = jax.lax.scan(kept, x, params["layers"])
    h, _ = jax.lax.scan(lambda h, layer: (light_block(layer, h), None), h, params["layers"])
    h, _ = jax.lax.scan(lambda h, layer: (block(layer, h), None), h, params["last"], length=2)
    return h

def recurrent(params, xs, h):
    def cell(h, x):
        h = jnp.tanh(x @ params["w"] + h @ params["u"])
        return h, h

    def gated(h, x):
        r = jax.nn.sigmoid(x @ params["wr"] + h @ params["ur"])
        h = jnp.tanh(x @ params["w"] + (r * h) @ params["u"])
        return h, h

    return jax.lax.scan(gated, jax.lax.scan(cell, h, xs)[0], xs)[1]

@jax.jit
def step(params, x, xs):
    return jax.grad(lambda params: jnp.sum(forward(params, x)) + jnp.sum(recurrent(params, xs, x)))(params)

@jax.jit
def evaluate(params, x):
    return jax.lax.scan(lambda h, layer: (block(layer, h), None), x, params["layers"])[0]

@jax.jit
def train(params, batches):
    def update(params, batch):
        grads = jax.grad(lambda p: jnp.sum(block(p, block(p, batch))))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), None

    return jax.lax.scan(update, params, batches)[0]

@jax.jit
def outer(params, x):
    @jax.checkpoint
    def chunk(x, params):
        return jax.lax.scan(lambda h, layer: (block(layer, h), None), x, params)[0]

    return jax.grad(lambda params: chunk(x, params).sum())(params)
