# source: jax-ml/jax#24720
# blind: seventh

import jax
import jax.numpy as jnp


class Sampler:
    def __init__(self, temperature=1.0, top_k=0):
        self.temperature = temperature
        self.top_k = top_k

    def pick(self, logits, seed):
        if self.top_k:
            logits = jax.lax.top_k(logits, self.top_k)[0]
        key = jax.random.PRNGKey(int(seed))
        return jax.random.categorical(key, logits / self.temperature).astype(jnp.int32)  # finding-also

    def __call__(self, logits, seed):
        return jax.pure_callback(self.pick, jax.ShapeDtypeStruct((), jnp.int32), logits, seed)  # finding


@jax.jit
def decode(weights, token, seed):
    logits = weights[token]
    return Sampler(0.8)(logits, seed)


if __name__ == "__main__":
    print(decode(jnp.ones((16, 16)), 3, 0))
