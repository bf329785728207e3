# source: keras-team/keras#20378
# blind: sixteenth

"""Transformer classifier on token sequences with dropout, flax.linen."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class EncoderLayer(nn.Module):
    dim: int
    heads: int
    rate: float

    @nn.compact
    def __call__(self, x, deterministic):
        y = nn.LayerNorm()(x)
        y = nn.MultiHeadDotProductAttention(self.heads, dropout_rate=self.rate)(
            y, y, deterministic=deterministic
        )
        x = x + nn.Dropout(self.rate)(y, deterministic=deterministic)
        y = nn.LayerNorm()(x)
        y = nn.Dense(self.dim)(nn.gelu(nn.Dense(4 * self.dim)(y)))
        return x + nn.Dropout(self.rate)(y, deterministic=deterministic)


class Classifier(nn.Module):
    vocab: int = 500
    dim: int = 32
    classes: int = 3

    @nn.compact
    def __call__(self, tokens, deterministic=True):
        x = nn.Embed(self.vocab, self.dim)(tokens)
        for _ in range(2):
            x = EncoderLayer(self.dim, 4, 0.1)(x, deterministic)
        return nn.Dense(self.classes)(x.mean(axis=1))


@jax.jit
def train_step(state, batch, dropout_rng):
    def loss_fn(params):
        logits = state.apply_fn(
            {"params": params},
            batch["tokens"],
            deterministic=False,
            rngs={"dropout": dropout_rng},  # finding-also
        )
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def train_epoch(state, batches, dropout_rng):
    losses = []
    for batch in batches:
        state, loss = train_step(state, batch, dropout_rng)  # finding
        losses.append(loss)
    return state, jnp.stack(losses).mean()


def main():
    rng = np.random.default_rng(0)
    batches = [
        {"tokens": rng.integers(0, 500, (16, 20)), "labels": rng.integers(0, 3, (16,))}
        for _ in range(10)
    ]
    model = Classifier()
    init_rng, dropout_rng = jax.random.split(jax.random.PRNGKey(0))
    params = model.init(init_rng, jnp.ones((1, 20), jnp.int32))["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))
    for epoch in range(5):
        state, loss = train_epoch(state, batches, dropout_rng)  # finding-also
        print(epoch, loss)


if __name__ == "__main__":
    main()
