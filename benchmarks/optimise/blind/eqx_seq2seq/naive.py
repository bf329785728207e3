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
        states = []
        for t in range(len(tokens)):
            hidden = self.cell(self.embedding(tokens[t]), hidden)
            states.append(hidden)
        return hidden, jnp.stack(states)


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
        logits = []
        for t in range(len(target)):
            step, hidden = self.decoder(previous[t], hidden, memory)
            logits.append(step)
        return jnp.stack(logits)

    def greedy(self, source, length):
        hidden, memory = self.encoder(source)
        token = jnp.array(START)
        tokens = []
        for _ in range(length):
            logits, hidden = self.decoder(token, hidden, memory)
            token = jnp.argmax(logits)
            tokens.append(int(token))
        return tokens


def sample_batch(rng, size):
    source = rng.integers(1, VOCAB, size=(size, LENGTH))
    return source, source[:, ::-1].copy()


def loss_fn(model, source, target):
    logits = jax.vmap(model.forced)(source, target)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, target)
    return jnp.mean(losses)


@eqx.filter_jit
def compute_grads(model, source, target):
    return eqx.filter_value_and_grad(loss_fn)(model, source, target)


def train(model, rng, steps):
    optim = optax.adam(optax.exponential_decay(8e-3, 50, 0.8))
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    losses = []
    for step in range(steps):
        source, target = sample_batch(rng, 64)
        loss, grads = compute_grads(model, source, target)
        updates, opt_state = optim.update(grads, opt_state, model)
        model = eqx.apply_updates(model, updates)
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            print(f"step {step + 1}: loss {np.mean(losses[-50:]):.3f}")
    return model


def evaluate(model, rng, count):
    right = 0
    sources, targets = sample_batch(rng, count)
    for source, target in zip(sources, targets):
        predicted = model.greedy(jnp.array(source), LENGTH)
        right += int(predicted == target.tolist())
    return right / count


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    model = Seq2Seq(jax.random.PRNGKey(1))
    model = train(model, rng, 150)
    print(f"exact matches: {evaluate(model, rng, 20):.2f}")
