# the whole loss, everything saved, barriers inside a scan

import functools
import jax
import jax.numpy as jnp

def layer(w, h):
    return h + jax.nn.silu(h @ w)

def loss(ws, x):
    for w in ws:
        x = layer(w, x)
    return jnp.mean(x**2)

grads = jax.jit(jax.grad(jax.checkpoint(loss)))  # finding
saved = jax.checkpoint(layer, policy=jax.checkpoint_policies.everything_saveable)  # finding

@jax.checkpoint  # finding
def body(h, w):
    return layer(w, h), None

@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)  # finding
def selective(h, w):
    return layer(w, h), None

@jax.jit
def forward(stack, x):
    h, _ = jax.lax.scan(body, x, stack)
    h, _ = jax.lax.scan(selective, h, stack)
    h, _ = jax.lax.scan(jax.remat(lambda h, w: (layer(w, h), None)), h, stack)  # finding
    return h

remat_layer = jax.checkpoint(layer)  # finding

def kept(w, h):
    policy = jax.checkpoint_policies.everything_saveable
    block = jax.checkpoint(layer, policy=policy)  # finding
    return block(w, h)

def asked(w, h, sparing):
    policy = jax.checkpoint_policies.everything_saveable
    if sparing:
        policy = jax.checkpoint_policies.dots_saveable
    return jax.checkpoint(layer, policy=policy)(w, h)

@jax.jit
def called_inside(stack, x):
    return jax.lax.scan(lambda h, w: (remat_layer(w, h), None), x, stack)[0]
