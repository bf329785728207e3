"""Reverse short strings with an equinox encoder and decoder, trained with teacher forcing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, HIDDEN, LENGTH, START = 8, 32, 5, 0


class Encoder(eqx.Module):
    embedding: eqx.nn.Embedding
    cell: eqx.nn.GRUCell

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.embedding = eqx.nn.Embedding(VOCAB, 16, key=k1)
        self.cell = eqx.nn.GRUCell(16, HIDDEN, key=k2)

    def __call__(self, tokens):
        hidden = jnp.zeros(HIDDEN)

        def step(hidden, token):
            hidden = self.cell(self.embedding(token), hidden)
            return hidden, hidden

        return jax.lax.scan(step, hidden, tokens)


class Decoder(eqx.Module):
    embedding: eqx.nn.Embedding
    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear

    def __init__(self, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.embedding = eqx.nn.Embedding(VOCAB, 16, key=k1)
        self.cell = eqx.nn.GRUCell(16, HIDDEN, key=k2)
        self.out = eqx.nn.Linear(2 * HIDDEN, VOCAB, key=k3)

    def __call__(self, token, hidden, memory):
        hidden = self.cell(self.embedding(token), hidden)
        weights = jax.nn.softmax(memory @ hidden / jnp.sqrt(HIDDEN))
        context = weights @ memory
        return self.out(jnp.concatenate([hidden, context])), hidden


class Seq2Seq(eqx.Module):
    encoder: Encoder
    decoder: Decoder

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.encoder = Encoder(k1)
        self.decoder = Decoder(k2)

    def forced(self, source, target):
        hidden, memory = self.encoder(source)
        previous = jnp.concatenate([jnp.array([START]), target[:-1]])

        def step(hidden, token):
            logits, hidden = self.decoder(token, hidden, memory)
            return hidden, logits

        return jax.lax.scan(step, hidden, previous)[1]

    def greedy(self, source, length):
        hidden, memory = self.encoder(source)
        token = jnp.array(START)

        def step(carry, _):
            token, hidden = carry
            logits, hidden = self.decoder(token, hidden, memory)
            token = jnp.argmax(logits)
            return (token, hidden), token

        return jax.lax.scan(step, (token, hidden), None, length)[1]


def sample_batch(rng, size):
    source = rng.integers(1, VOCAB, size=(size, LENGTH))
    return source, source[:, ::-1].copy()


def loss_fn(model, source, target):
    logits = jax.vmap(model.forced)(source, target)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, target)
    return jnp.mean(losses)


@eqx.filter_jit(donate="all-except-first")
def train_step(batch, optim, model, opt_state):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, *batch)
    updates, opt_state = optim.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


@eqx.filter_jit
def greedy_batch(model, sources):
    return jax.vmap(lambda source: model.greedy(source, LENGTH))(sources)


def train(model, rng, steps):
    optim = optax.adam(optax.exponential_decay(8e-3, 50, 0.8))
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    losses = []
    for step in range(steps):
        model, opt_state, loss = train_step(sample_batch(rng, 64), optim, model, opt_state)
        losses.append(loss)
        if (step + 1) % 50 == 0:
            print(f"step {step + 1}: loss {np.mean(jax.device_get(losses[-50:])):.3f}")
    return model


def evaluate(model, rng, count):
    sources, targets = sample_batch(rng, count)
    predicted = np.asarray(greedy_batch(model, sources))
    return (predicted == targets).all(axis=1).mean()


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    model = eqx.filter_jit(Seq2Seq)(jax.random.PRNGKey(1))
    model = train(model, rng, 150)
    print(f"exact matches: {evaluate(model, rng, 20):.2f}")
