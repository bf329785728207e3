# the peak of a jitted call, straight and in a helper

import sys
import tracemalloc
import jax
import jax.numpy as jnp

@jax.jit
def forward(x):
    return jnp.sin(x) @ x

def peak(fn, *args):
    tracemalloc.start()
    fn(*args).block_until_ready()
    _, most = tracemalloc.get_traced_memory()  # finding
    tracemalloc.stop()
    return most

print(peak(forward, jnp.ones((1024, 1024))))
tracemalloc.start()
y = forward(jnp.ones((8, 8)))
snapshot = tracemalloc.take_snapshot()  # finding
print(sys.getsizeof(y))  # finding
