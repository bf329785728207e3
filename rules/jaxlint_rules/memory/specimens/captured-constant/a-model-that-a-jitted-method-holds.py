# a model that a jitted method holds in self

import jax
from flax import nnx

class Sampler:
    def __init__(self, rngs):
        self.model = nnx.Linear(4096, 4096, rngs=rngs)
        self.small = nnx.Linear(4, 2, rngs=rngs)
        self.sample = jax.jit(self._sample)
        self.judge = jax.jit(self._judge)
        self.given = nnx.jit(self._given)

    def _sample(self, tokens):
        return self._logits(tokens).argmax(-1)

    def _logits(self, tokens):
        return self.model(tokens)  # finding

    def _judge(self, tokens):
        return self.small(tokens)

    def _given(self, model, tokens):
        return model(tokens)

    def __call__(self, tokens):
        return self.given(self.model, self.sample(tokens)), self.judge(tokens)
