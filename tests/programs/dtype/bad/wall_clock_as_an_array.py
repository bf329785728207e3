# source: gbionics/jaxsim#225
# blind: ninth

import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class Throughput:
    started: jax.Array
    tokens: jax.Array

    @classmethod
    def begin(cls):
        return cls(jnp.asarray(time.time()), jnp.zeros((), jnp.int32))  # finding

    def rate(self):
        return self.tokens / (jnp.asarray(time.time()) - self.started)  # finding-also


def consume(meter, batch):
    meter.tokens = meter.tokens + batch.size
    return jnp.tanh(batch).sum()


if __name__ == "__main__":
    meter = Throughput.begin()
    for _ in range(3):
        consume(meter, jnp.ones((8, 128)))
    print(meter.rate())
