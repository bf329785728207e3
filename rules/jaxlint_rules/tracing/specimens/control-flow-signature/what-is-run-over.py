# what is run over

import jax
import jax.numpy as jnp
from jax import lax

def layer(h, w):
    return jnp.tanh(h @ w), None

def run(x, keys, n):
    weights = [jax.random.normal(key, (4, 4)) for key in keys]
    a = lax.scan(layer, x, weights)  # finding
    b = lax.scan(lambda c, x: (c * x, None), x, [1.0, 2.0])  # finding
    c = lax.map(lambda v: v * x, range(3))  # finding
    d = lax.scan(lambda c, x: (c + x, None), x, 5)  # finding
    blocks = [{"w": jnp.ones((4, 4))} for _ in range(n)]
    k = lax.scan(lambda h, p: (h @ p["w"], None), x, blocks)  # finding
    e = lax.scan(layer, x, jnp.stack(weights))
    f = lax.scan(lambda c, ws: (c @ ws[0] + ws[1], None), x, [jnp.ones((3, 4, 4)), jnp.ones((3, 4))])
    g = lax.scan(lambda c, x: (c, None), x, None, length=5)
    h = lax.map(lambda v: v * x, jnp.arange(3))
    return a, b, c, d, e, f, g, h, k
