# after every step

import jax
import jax.numpy as jnp

@jax.jit
def features(x):
    return jnp.fft.rfft(x).real ** 2

def process(chunks):
    out = []
    for chunk in chunks:
        out.append(features(chunk))
        jax.clear_caches()  # finding
    return out

def repeat(x, steps):
    for _ in range(steps):
        x = features(x)
        features.clear_cache()  # finding
    return x

def release():
    jax.clear_caches()  # finding

def tidy(chunks):
    out = []
    for chunk in chunks:
        out.append(features(chunk))
        release()
    return out

tidy([jnp.ones(8)] * 9)
