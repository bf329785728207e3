"""Train a tiny character transformer on made-up words, then complete prefixes with beam search."""
from dataclasses import dataclass

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

LETTERS = "abdegiklmnoprstu"
START, END = 16, 17


@dataclass
class Config:
    vocab: int = 18
    max_length: int = 14
    width: int = 32
    heads: int = 4
    layers: int = 1
    words: int = 512
    batch_size: int = 32
    steps: int = 100
    learning_rate: float = 3e-3
    beam: int = 4
    prefixes: int = 18
    length_penalty: float = 0.7
    seed: int = 8


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, mask):
        c = self.config
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=c.heads)(h, h, mask=mask)
        h = nn.Dense(2 * c.width)(nn.LayerNorm()(x))
        return x + nn.Dense(c.width)(nn.gelu(h))


class CharTransformer(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, tokens):
        c = self.config
        positions = self.param("positions", nn.initializers.normal(0.02), (c.max_length, c.width))
        x = nn.Embed(c.vocab, c.width)(tokens) + positions[: tokens.shape[1]]
        mask = nn.make_causal_mask(tokens)
        for _ in range(c.layers):
            x = Block(c)(x, mask)
        return nn.Dense(c.vocab)(nn.LayerNorm()(x))


def make_words(config):
    rng = np.random.default_rng(config.seed)
    onsets, vowels, codas = list("bdgklmnprst"), list("aeiou"), ["", "", "n", "r", "s", "l"]
    favourite = rng.permutation(len(onsets))
    words = []
    for _ in range(config.words):
        word, onset = "", rng.integers(len(onsets))
        for _ in range(rng.integers(2, 5)):
            word += onsets[onset] + vowels[(onset + rng.integers(2)) % 5] + codas[rng.integers(len(codas))]
            onset = favourite[onset] if rng.random() < 0.7 else rng.integers(len(onsets))
        words.append(word[: config.max_length - 2])
    return words


def encode(word, config):
    tokens = [START] + [LETTERS.index(c) for c in word] + [END]
    return tokens + [END] * (config.max_length - len(tokens)), len(tokens)


def train(config, model, params, words):
    encoded = [encode(word, config) for word in words]
    tokens = np.array([t for t, _ in encoded])
    lengths = np.array([n for _, n in encoded])
    tx = optax.adamw(config.learning_rate)
    opt_state = tx.init(params)
    rng = np.random.default_rng(config.seed + 1)

    @jax.jit
    def step(params, opt_state, batch, length):
        def loss_fn(params):
            logits = model.apply(params, batch[:, :-1])
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch[:, 1:])
            mask = jnp.arange(batch.shape[1] - 1) < length[:, None] - 1
            return (losses * mask).sum() / mask.sum()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    losses = []
    for i in range(1, config.steps + 1):
        rows = rng.integers(0, len(words), size=config.batch_size)
        params, opt_state, loss = step(params, opt_state, tokens[rows], lengths[rows])
        losses.append(float(loss))
        if i % 50 == 0:
            print(f"step {i}: loss {np.mean(losses[-50:]):.3g}")
    return params


class BeamSearch:
    def __init__(self, config, model, params):
        self.config = config
        self.params = params
        self.forward = jax.jit(model.apply)

    def next_log_probs(self, tokens):
        logits = self.forward(self.params, jnp.array([tokens]))[0, -1]
        return jax.nn.log_softmax(logits.at[START].set(-1e9))

    def complete(self, prefix):
        c = self.config
        beams = [([START] + [LETTERS.index(ch) for ch in prefix], 0.0)]
        while any(tokens[-1] != END and len(tokens) < c.max_length for tokens, _ in beams):
            candidates = []
            for tokens, score in beams:
                if tokens[-1] == END or len(tokens) == c.max_length:
                    candidates.append((tokens, score))
                    continue
                log_probs = self.next_log_probs(tokens)
                for token in np.argsort(-np.asarray(log_probs))[: c.beam]:
                    candidates.append((tokens + [int(token)], score + float(log_probs[token])))
            beams = sorted(candidates, key=lambda beam: beam[1], reverse=True)[: c.beam]
        best, score = max(beams, key=lambda beam: beam[1] / len(beam[0]) ** c.length_penalty)
        return "".join(LETTERS[t] for t in best if t < len(LETTERS)), score


def main():
    config = Config()
    words = make_words(config)
    model = CharTransformer(config)
    params = model.init(jax.random.key(config.seed), jnp.zeros((1, config.max_length), jnp.int32))
    params = train(config, model, params, words)
    search = BeamSearch(config, model, params)
    scores = []
    for i in range(config.prefixes):
        prefix = words[i][: 1 + i % 3]
        word, score = search.complete(prefix)
        scores.append(score)
        if i % 3 == 0:
            print(f"{prefix:4s} -> {word} ({score:.2f})")
    print(f"mean score {np.mean(scores):.3f}")


if __name__ == "__main__":
    main()
