# gradients and axes of what a call does not pass

from functools import partial
import jax

def loss(w, x, scale=1.0):
    return (w * x * scale).sum()

@partial(jax.custom_vjp, nondiff_argnums=(2,))  # finding
def clip(x, limit):
    return x

slope = jax.grad(loss, argnums=2)
batched = jax.vmap(loss, in_axes=(None, 0, None))
named = jax.jit(loss, static_argnums="scale")  # finding

def main(w, xs, options):
    a = slope(w, xs)  # finding
    b = jax.grad(loss)(w=w, x=xs)  # finding
    c = batched(w, xs)  # finding
    d = batched(w, xs, scale=2.0)  # finding
    e = slope(w, xs, 1.0), batched(w, xs, 2.0), batched(*options), jax.vmap(loss, (None, 0))(w, xs)
    return a, b, c, d, e
