# measured, or done once in a while by the function that is called

import logging
import time
import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)

@jax.jit
def step(w, batch):
    return w - 0.1 * batch, jnp.mean(w * batch)

def show(number, loss):
    if number % 100 == 0:
        print(f"{number}: {loss:.3f}")

def save(number, w):
    if number % 1000:
        return
    np.save(f"{number}.npy", w)

def train(w, batches):
    for number, batch in enumerate(batches):
        w, loss = step(w, batch)
        log.debug("loss %s", loss)
        show(number, loss)
        save(number, w)
        if number % 50 == 0:
            log.info("loss %s", loss)
    np.save("last.npy", w)
    return w

def measure(w, batch):
    times = []
    for _ in range(20):
        start = time.perf_counter()
        w, _ = step(w, batch)
        w.block_until_ready()
        times.append(time.perf_counter() - start)
    for _ in range(20):
        jax.block_until_ready(step(w, batch))
    return np.median(times)

train(jnp.ones(3), [jnp.ones(3)] * 9)
