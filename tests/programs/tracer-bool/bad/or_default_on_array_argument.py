# source: jax-ml/jax#16430
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def top_k_filter(logits, k):
    kth = jax.lax.top_k(logits, k)[0][..., -1:]
    return jnp.where(logits < kth, -jnp.inf, logits)


@functools.partial(jax.jit, static_argnames=("k",))
def sample_token(key, logits, temperature=None, k=None):
    temperature = temperature or 1.0  # finding
    scaled = logits / temperature
    if k is not None:
        scaled = top_k_filter(scaled, k)
    return jax.random.categorical(key, scaled, axis=-1)


def generate(key, table, start, length, temperature):
    tokens = [start]
    for step_key in jax.random.split(key, length):
        tokens.append(sample_token(step_key, table[tokens[-1]], temperature, k=4))
    return jnp.stack(tokens)


def main():
    table = jax.random.normal(jax.random.key(1), (16, 16))
    print(generate(jax.random.key(0), table, jnp.asarray(3), 5, temperature=0.7))


if __name__ == "__main__":
    main()
