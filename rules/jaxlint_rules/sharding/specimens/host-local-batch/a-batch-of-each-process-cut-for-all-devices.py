# a batch of each process cut for all devices

import jax

step = jax.pmap(lambda x: 2 * x)

def shard(x):
    n = jax.device_count()  # finding
    return x.reshape((n, x.shape[0] // n) + x.shape[1:])

def flat(x):
    return x.reshape(jax.device_count(), -1)  # finding

def right(x, size):
    per_process = size // jax.process_count()
    print(jax.device_count(), per_process)
    return x.reshape((jax.local_device_count(), -1))
