# source: Physical-Intelligence/openpi#550

import jax
import jax.numpy as jnp


class TinyPolicy:
    def __init__(self, key, vocab=16, width=8):
        self.embed = jax.random.normal(key, (vocab, width))

    def logits(self, token):
        return self.embed @ self.embed[token]

    def sample_actions(self, rng, prompt, *, max_steps=8, temperature=0.0):
        def step(carry):
            rng, token, out, i = carry
            logits = self.logits(token)
            rng, sub = jax.random.split(rng)
            if temperature > 0.0:  # finding
                token = jax.random.categorical(sub, logits / temperature)
            else:
                token = jnp.argmax(logits)
            token = token.astype(jnp.int32)
            return rng, token, out.at[i].set(token), i + 1

        out = jnp.zeros(8, jnp.int32)
        return jax.lax.while_loop(lambda c: c[3] < max_steps, step, (rng, prompt, out, 0))[2]


class Runner:
    def __init__(self, policy, sample_kwargs):
        self._sample = jax.jit(policy.sample_actions)
        self._kwargs = sample_kwargs

    def infer(self, rng, prompt):
        return self._sample(rng, prompt, **self._kwargs)


runner = Runner(TinyPolicy(jax.random.key(0)), {"temperature": 0.7})
print(runner.infer(jax.random.key(1), jnp.int32(3)))
