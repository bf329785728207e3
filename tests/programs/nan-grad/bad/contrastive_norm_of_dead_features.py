# source: google-deepmind/optax#71
# blind: sixth

"""Contrastive loss on the output of a ReLU encoder."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(self.width)(x))
        h = nn.relu(nn.Dense(self.width, use_bias=False)(h))
        return h / jnp.linalg.norm(h, axis=-1, keepdims=True)  # finding


def info_nce(params, model, a, b, temperature=0.1):
    za = model.apply(params, a)
    zb = model.apply(params, b)
    logits = za @ zb.T / temperature
    labels = jnp.arange(a.shape[0])
    logp = jax.nn.log_softmax(logits)
    return -logp[labels, labels].mean()


def main():
    model = Encoder()
    a = jax.random.normal(jax.random.key(0), (16, 8)).at[3].set(0.0)
    params = model.init(jax.random.key(1), a)
    step = jax.jit(jax.grad(lambda p, a, b: info_nce(p, model, a, b)))
    print(step(params, a, a + 0.1))


if __name__ == "__main__":
    main()
