# source: jax-ml/jax#5815
# blind: fifth

import time

import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(1000, 64)(tokens)
        for _ in range(2):
            x = x + nn.gelu(nn.Dense(64)(x))
        return x.mean(axis=1)


def throughput(batch_size, n_batches=10):
    model = Encoder()
    tokens = jnp.zeros((batch_size, 32), jnp.int32)
    params = model.init(jax.random.key(0), tokens)
    encode = jax.jit(model.apply)

    start = time.perf_counter()
    for _ in range(n_batches):
        out = encode(params, tokens)  # finding-also
    out.block_until_ready()
    elapsed = time.perf_counter() - start  # finding
    return n_batches * batch_size / elapsed


if __name__ == "__main__":
    for batch_size in (8, 32):
        print(f"batch {batch_size}: {throughput(batch_size):.0f} sequences/s")
