# guarded inside, another condition, or never differentiated

import jax
import jax.numpy as jnp

def entropy(p):
    safe = jnp.where(p > 0, p, 1.0)
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(safe), 0.0))

def undefined(x):
    return jnp.where(x > 0, jnp.log(x), jnp.nan).sum() + jnp.where(x > 0, 1.0 / x, float("nan")).sum()

def clipped(x):
    return jnp.where(x > 0, jnp.log(jnp.maximum(x, 1e-6)), 0.0).sum() + jnp.where(x > 0, jnp.sqrt(x + 1e-6), 0.0).sum()

def masked(logits, mask):
    p = jax.nn.softmax(logits)
    return jnp.where(mask, jnp.log(p + 1e-9), 0.0).sum()

def huber(x):
    return jnp.where(jnp.abs(x) < 1.0, 0.5 * x**2, jnp.abs(x) - 0.5).sum()

def upwind(p):
    eps = 1e-3
    p = jnp.where(jnp.abs(p) < eps, eps, p)
    return jnp.where(p > eps, (p - 1) / p, 0.5).sum()

def mean(x, mask):
    total, count = jnp.sum(x * mask), jnp.sum(mask)
    total = jnp.where(count == 0, jnp.zeros_like(total), total)
    return jnp.where(count == 0, total, total / count)

CUTOFF = float(input())

def cut_off(x, r, keep):
    r = jnp.where(keep, r, 0)
    pairs = jnp.where(keep, jnp.exp(-r) / r, 0)
    return jnp.where(r < CUTOFF, pairs, 0).sum() + jnp.where(x < CUTOFF, 1 / x, 0).sum()

LOW, HIGH = float(input()), float(input())

def share_of_settings(w):
    low = jnp.clip(LOW, 0.001, 0.998)
    room = 0.999 - low
    share = jnp.where(room > 0, (jnp.clip(HIGH, low, 0.999) - low) / room, 0.0)
    return (w * share).sum()

def loss(w, mask):
    return share_of_settings(w) + cut_off(w, w, mask) + entropy(w) + clipped(w) + masked(w, mask) + huber(w) + upwind(w) + undefined(w) + mean(w, mask)

def step(w, mask):
    return w - 0.1 * jax.grad(loss)(w, mask)

def metric(x):
    return jnp.where(x > 0, jnp.log(x), 0.0).sum()

def kernel(x_ref, o_ref):
    def scale(x):
        return jnp.where(x == 0, 0.0, 1 / x)

    o_ref[...] = scale(x_ref[...])
    return scale(x_ref[...]).sum()

def through_kernel(w, out):
    return jax.grad(lambda w: kernel(w, out))(w)
