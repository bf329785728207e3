# cut for all devices of one process

import jax

step = jax.pmap(lambda x: 2 * x)

def shard(x):
    return x.reshape((jax.device_count(), -1))
