# source: jax-ml/jax#25186

import jax
import jax.numpy as jnp


def chunk_attention(q, k, v):
    weights = jax.nn.softmax(q @ k.T, axis=-1)
    return weights @ v


def chunked(q, k, v, chunk_size=4):
    num_chunks = q.shape[0] // chunk_size

    def one_chunk(start, _):
        stop = start + chunk_size
        out = chunk_attention(q[start:stop], k, v)  # finding
        return stop, out

    _, out = jax.lax.scan(one_chunk, 0, xs=None, length=num_chunks)
    return out.reshape(q.shape)


if __name__ == "__main__":
    q, k, v = jax.random.normal(jax.random.key(0), (3, 16, 8))
    print(chunked(q, k, v).shape)
