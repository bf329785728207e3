# waits that make the time of a step true, and those of an evaluation now and then

import time

import jax
import jax.numpy as jnp

@jax.jit
def step(w, batch):
    return w - 0.1 * batch.mean(0), jnp.mean((batch @ w) ** 2)

def each(w, batches):
    history = []
    for batch in batches:
        begun = time.perf_counter()
        w, loss = step(w, batch)
        value = float(loss)  # finding
        history.append((value, time.perf_counter() - begun))
    return w, history

def whole(w, batches):
    begun = time.perf_counter()
    history = []
    for batch in batches:
        w, loss = step(w, batch)
        history.append((0, float(loss)))  # finding
    return w, history, time.perf_counter() - begun

def evaluated(w, batches, held_out):
    for number, batch in enumerate(batches):
        w, _ = step(w, batch)
        if number % 100 == 0:
            total = 0.0
            for n in range(5):
                total += float(step(w, held_out[n])[1])  # finding
    return w

def waited_for_before(w, batches):
    times, losses = [], []
    for batch in batches:
        begun = time.perf_counter()
        w, loss = step(w, batch)
        jax.block_until_ready(loss)
        times.append(time.perf_counter() - begun)
        losses.append((0, float(loss)))  # finding
    return w, times, losses
