# source: jax-ml/jax#13022
# blind: third

import jax
import jax.numpy as jnp


class Probe:
    def __init__(self):
        self.seen = {}

    def record(self, name, value):
        self.seen[name] = value  # finding
        return value


def attention(probe, name, q, k, v):
    w = jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))
    return probe.record(name, w) @ v  # finding-also


def encode(probe, tokens):
    h = tokens
    for i in range(2):
        h = h + attention(probe, f"layer{i}", h, h, h)
    return h.mean(0)


def embed(batch):
    probe = Probe()
    out = jax.vmap(lambda t: encode(probe, t))(batch)
    entropy = {k: -jnp.sum(w * jnp.log(w)) for k, w in probe.seen.items()}
    return out, entropy


if __name__ == "__main__":
    out, entropy = embed(jnp.ones((2, 3, 4)))
    print(out.shape, {k: float(e) for k, e in entropy.items()})
