# source: huggingface/transformers#17843
# blind: second

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp


class Bigram(nn.Module):
    vocab: int

    @nn.compact
    def __call__(self, token):
        h = nn.Embed(self.vocab, 16)(token)
        return nn.Dense(self.vocab)(nn.gelu(h))


class Generator:
    def __init__(self, vocab, eos, seed=0):
        self.model = Bigram(vocab)
        self.params = self.model.init(jax.random.key(seed), jnp.zeros((), jnp.int32))
        self.eos = eos
        self._step = jax.jit(partial(self.model.apply, self.params))

    def step(self, token):
        return self._step(token)

    def generate(self, token, max_tokens):
        out = []
        current = jnp.asarray(token)
        for _ in range(max_tokens):
            logits = self.step(current)
            current = jnp.argmax(logits)
            if int(current) == self.eos:  # finding
                break
            out.append(int(current))  # finding-also
        return out


if __name__ == "__main__":
    print(Generator(20, 0).generate(3, 10))
