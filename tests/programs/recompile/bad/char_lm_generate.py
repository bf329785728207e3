# source: jax-ml/jax-ai-stack#243
# blind: nineteenth

import time

import jax
import jax.numpy as jnp
import flax.linen as nn

VOCAB = 64


class TinyGPT(nn.Module):
    dim: int = 32
    layers: int = 1

    @nn.compact
    def __call__(self, tokens):
        length = tokens.shape[1]
        pos = self.param("pos", nn.initializers.normal(0.02), (128, self.dim))
        x = nn.Embed(VOCAB, self.dim)(tokens) + pos[:length]
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.layers):
            h = nn.LayerNorm()(x)
            x = x + nn.SelfAttention(num_heads=4)(h, mask=mask)
            h = nn.gelu(nn.Dense(4 * self.dim)(nn.LayerNorm()(x)))
            x = x + nn.Dense(self.dim)(h)
        return nn.Dense(VOCAB)(nn.LayerNorm()(x))


model = TinyGPT()


@jax.jit
def next_logits(params, tokens):  # finding-also
    return model.apply(params, tokens)[:, -1]


def generate(params, key, prompt, new_tokens, temperature):
    tokens = prompt
    for _ in range(new_tokens):
        key, sub = jax.random.split(key)
        logits = next_logits(params, tokens) / temperature  # finding-also
        choice = jax.random.categorical(sub, logits)
        tokens = jnp.concatenate([tokens, choice[:, None]], axis=1)  # finding
    return tokens


def main():
    k_init, k_prompt, k_gen = jax.random.split(jax.random.key(0), 3)
    prompt = jax.random.randint(k_prompt, (4, 8), 0, VOCAB)
    params = model.init(k_init, prompt)
    start = time.perf_counter()
    out = generate(params, k_gen, prompt, 6, 0.8)
    out.block_until_ready()
    print("shape", out.shape, "last", out[0, -4:].tolist(), "seconds", round(time.perf_counter() - start, 2))


if __name__ == "__main__":
    main()
