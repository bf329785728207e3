# once, now and then, another model each time, between measurements

import time

import jax
import jax.numpy as jnp

@jax.jit
def features(x):
    return jnp.fft.rfft(x).real ** 2

def process(chunks):
    out = [features(chunk) for chunk in chunks]
    jax.clear_caches()
    for n, chunk in enumerate(chunks):
        out.append(features(chunk))
        if n % 100 == 0:
            jax.clear_caches()
    return out

def tidied(chunks):
    release(len(chunks))
    for n, chunk in enumerate(chunks):
        features(chunk)
        if n % 100 == 0:
            release(n)
        release_when(n)

def release(n):
    jax.clear_caches()

def release_when(n):
    if n % 100 == 0:
        jax.clear_caches()

tidied([jnp.ones(8)] * 9)

def models(widths, x):
    for width in widths:
        model = jax.jit(lambda x: x @ jnp.ones((3, width)))
        print(model(x))
        jax.clear_caches()

def compile_times(x):
    for _ in range(10):
        jax.clear_caches()
        start = time.perf_counter()
        features(x).block_until_ready()
        print(time.perf_counter() - start)
