# source: google/flax#1060
# blind: first

import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class Buffer:
    data: jax.Array
    head: jax.Array

    def push(self, item):
        self.replace(  # finding
            data=self.data.at[self.head].set(item),
            head=(self.head + 1) % self.data.shape[0],
        )
        return self


@jax.jit
def fill(buffer, items):
    return jax.lax.scan(lambda b, it: (b.push(it), None), buffer, items)[0]


if __name__ == "__main__":
    b = Buffer(jnp.zeros((4, 2)), jnp.array(0))
    print(fill(b, jnp.ones((3, 2))).head)
