# unmapped arguments of vmap keep their values

import jax

def loss(x, delta):
    if delta > 0:
        return x * delta
    return x

def batch(xs):
    return jax.vmap(loss, in_axes=(0, None))(xs, 0.5)
