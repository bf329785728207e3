# per block, with a policy, without barriers in a scan

import functools
import jax
import jax.numpy as jnp

def layer(w, h):
    return h + jax.nn.silu(h @ w)

block = jax.checkpoint(layer)
selective = jax.checkpoint(layer, policy=jax.checkpoint_policies.nothing_saveable)

def loss(ws, x):
    for w in ws:
        x = selective(w, block(w, x))
    return jnp.mean(x**2)

grads = jax.jit(jax.grad(loss))
dots = jax.grad(jax.checkpoint(loss, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable))

@functools.partial(jax.checkpoint, prevent_cse=False)
def body(h, w):
    return layer(w, h), None

def forward(stack, x, keep):
    h, _ = jax.lax.scan(body, x, stack)
    return jax.lax.scan(jax.checkpoint(lambda h, w: (layer(w, h), None), prevent_cse=keep), h, stack)
