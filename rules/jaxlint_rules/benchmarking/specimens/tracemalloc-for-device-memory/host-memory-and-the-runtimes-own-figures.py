# host memory, and the runtime's own figures

import sys
import tracemalloc
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def forward(x):
    return jnp.sin(x) @ x

def load(paths):
    tracemalloc.start()
    data = [np.load(path) for path in paths]
    print(tracemalloc.get_traced_memory(), sys.getsizeof(data))
    return data

def peak(x):
    return forward.lower(x).compile().memory_analysis(), forward(x).nbytes
