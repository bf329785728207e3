# source: google/flax#2102
# blind: sixth

"""Sampling from a character model."""
import jax
import jax.numpy as jnp


def sample_token(key, logits, temperature):
    return jnp.argmax(logits, -1) if temperature == 0.0 else jax.random.categorical(key, logits / temperature)  # finding


def generate(key, table, start, temperature, length):
    def step(carry, key):
        token = carry
        nxt = sample_token(key, table[token], temperature)
        return nxt, nxt

    _, tokens = jax.lax.scan(step, start, jax.random.split(key, length))
    return tokens


generate_jit = jax.jit(generate, static_argnums=4)

if __name__ == "__main__":
    table = jax.random.normal(jax.random.key(1), (27, 27))
    print(generate_jit(jax.random.key(0), table, jnp.int32(0), 0.8, 12))
