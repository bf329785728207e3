# source: jax-ml/jax#13022
# blind: third

import jax
import jax.numpy as jnp


class Probe:
    def __init__(self):
        self.seen = {}

    def record(self, name, value):
        self.seen[name] = value
        return value


def attention(probe, name, q, k, v):
    w = jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))
    return probe.record(name, w) @ v


def encode(tokens):
    probe = Probe()
    h = tokens
    for i in range(2):
        h = h + attention(probe, f"layer{i}", h, h, h)
    return h.mean(0), probe.seen


@jax.jit
def embed(batch):
    return jax.vmap(encode)(batch)


if __name__ == "__main__":
    out, maps = embed(jnp.ones((2, 3, 4)))
    print(out.shape, {k: v.shape for k, v in maps.items()})
