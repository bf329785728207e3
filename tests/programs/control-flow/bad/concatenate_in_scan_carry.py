# source: jax-ml/jax#15178
# blind: eighteenth

import equinox as eqx
import jax
import jax.numpy as jnp


class TinyLM(eqx.Module):
    embed: eqx.nn.Embedding
    proj: eqx.nn.Linear

    def __init__(self, vocab, dim, *, key):
        k1, k2 = jax.random.split(key)
        self.embed = eqx.nn.Embedding(vocab, dim, key=k1)
        self.proj = eqx.nn.Linear(dim, vocab, key=k2)

    def __call__(self, tokens):
        hidden = jax.vmap(self.embed)(tokens).mean(axis=0)
        return self.proj(hidden)


@eqx.filter_jit
def generate(model, prompt, key, length):
    def body(tokens, k):
        logits = model(tokens)
        nxt = jax.random.categorical(k, logits)
        tokens = jnp.concatenate([tokens, nxt[None].astype(tokens.dtype)])  # finding
        return tokens, nxt

    tokens, new = jax.lax.scan(body, prompt, jax.random.split(key, length))  # finding-also
    return tokens, new


def main():
    model = TinyLM(32, 8, key=jax.random.key(0))
    prompt = jnp.array([1, 2, 3], dtype=jnp.int32)
    print(generate(model, prompt, jax.random.key(1), 4))


if __name__ == "__main__":
    main()
