# blind: ninth

import jax
import jax.numpy as jnp
import equinox as eqx


class Encoder(eqx.Module):
    embed: jax.Array
    out: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.embed = jax.random.normal(a, (100, 16))
        self.out = eqx.nn.Linear(16, 8, key=b)

    def __call__(self, tokens):
        return self.out(self.embed[tokens].mean(0))


def encode_all(encoder, sentences):
    return jnp.stack([encoder(tokens) for tokens in sentences])  # finding


@eqx.filter_jit
def contrastive_loss(encoder, left, right):
    a, b = encode_all(encoder, left), encode_all(encoder, right)
    logits = a @ b.T
    return -jnp.mean(jnp.diag(jax.nn.log_softmax(logits)))


if __name__ == "__main__":
    encoder = Encoder(jax.random.key(0))
    left = jnp.ones((64, 12), jnp.int32)
    print(contrastive_loss(encoder, left, left))
