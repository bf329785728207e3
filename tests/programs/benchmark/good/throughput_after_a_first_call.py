# blind: fifth

import time

import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(1000, 64)(tokens)
        return nn.gelu(nn.Dense(64)(x)).mean(axis=1)


def throughput(batch_size, n_batches=10):
    model = Encoder()
    tokens = jnp.zeros((batch_size, 32), jnp.int32)
    params = model.init(jax.random.key(0), tokens)
    encode = jax.jit(model.apply)
    encode(params, tokens).block_until_ready()

    start = time.perf_counter()
    for _ in range(n_batches):
        out = encode(params, tokens)
    out.block_until_ready()
    elapsed = time.perf_counter() - start
    return n_batches * batch_size / elapsed


if __name__ == "__main__":
    print(f"{throughput(8):.0f} sequences/s")
