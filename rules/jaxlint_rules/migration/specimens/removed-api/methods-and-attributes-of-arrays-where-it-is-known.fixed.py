# methods and attributes of arrays, where it is known that they are some
import jax.numpy as jnp
import numpy as np


def report(x: jnp.ndarray, model):
    y = jnp.exp(x)
    print(next(iter(y.devices())))
    print(np.asarray(x))
    return [shard.data for shard in y.addressable_shards], model.device()
