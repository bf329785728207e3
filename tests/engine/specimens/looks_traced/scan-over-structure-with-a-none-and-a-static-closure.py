# scan over structure with a None and a static closure
import jax
import jax.numpy as jnp
from functools import partial

def layer(x, w, mask, *, causal, heads):
    if mask is None and causal:
        mask = jnp.tril(jnp.ones((x.shape[0], x.shape[0])))
    if heads > 1:
        x = x.reshape(x.shape[0], heads, -1).reshape(x.shape)
    return (mask @ x if mask is not None else x) @ w

@partial(jax.jit, static_argnames=("causal", "heads"))
def forward(ws, x, causal=True, heads=2):
    def body(carry, w):
        x, steps = carry
        x = layer(x, w, None, causal=causal, heads=heads)
        return (x, steps + 1), None

    (x, steps), nothing = jax.lax.scan(body, (x, 0), ws)
    if nothing is None:
        return x * steps
    return x

forward(jnp.ones((3, 4, 4)), jnp.ones((2, 4)))
forward(jnp.ones((3, 4, 4)), jnp.ones((2, 4)), causal=False, heads=1)
