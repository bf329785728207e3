"""Train a tiny character transformer on made-up words, then complete prefixes with beam search."""
from dataclasses import dataclass
from functools import partial

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
    rng = np.random.default_rng(config.seed + 1)

    @partial(jax.jit, donate_argnums=0)
    def run(carry, tokens, lengths, rows):
        def step(carry, rows):
            params, opt_state = carry
            batch, length = tokens[rows], lengths[rows]

            def loss_fn(params):
                logits = model.apply(params, batch[:, :-1])
                losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch[:, 1:])
                mask = jnp.arange(batch.shape[1] - 1) < length[:, None] - 1
                return (losses * mask).sum() / mask.sum()

            loss, grads = jax.value_and_grad(loss_fn)(params)
            updates, opt_state = tx.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), loss

        carry, losses = jax.lax.scan(step, carry, rows)
        return carry, losses.mean()

    carry = (params, jax.jit(tx.init)(params))
    tokens, lengths = jax.device_put((tokens, lengths))
    for i in range(50, config.steps + 1, 50):
        carry, loss = run(carry, tokens, lengths, rng.integers(0, len(words), size=(50, config.batch_size)))
        print(f"step {i}: loss {loss:.3g}")
    return carry[0]


def make_search(config, model):
    """Beam search for many prefixes together, in one buffer of fixed width; causal attention ignores what is not written yet."""
    k, width = config.beam, config.max_length

    def expand(params, carry):
        tokens, lengths, scores = carry
        n = tokens.shape[0]
        logits = model.apply(params, tokens.reshape(n * k, width)).reshape(n, k, width, -1)
        logits = jnp.take_along_axis(logits, lengths[:, :, None, None] - 1, axis=2)[:, :, 0]
        log_probs = jax.nn.log_softmax(logits.at[..., START].set(-1e9))
        top, choices = jax.lax.top_k(log_probs, k)
        last = jnp.take_along_axis(tokens, lengths[:, :, None] - 1, axis=2)
        finished = (last == END) | (lengths[:, :, None] == width)
        # A finished beam stays as it is: one candidate without a new token.
        first = jnp.arange(k) == 0
        top = jnp.where(finished, jnp.where(first, 0.0, -jnp.inf), top)
        scores, order = jax.lax.top_k((scores[:, :, None] + top).reshape(n, k * k), k)
        parent = order // k

        def pick(x):
            return jnp.take_along_axis(x, parent, axis=1)

        done, lengths = pick(finished[..., 0]), pick(lengths)
        tokens = jnp.take_along_axis(tokens, parent[:, :, None], axis=1)
        choice = jnp.take_along_axis(choices.reshape(n, k * k), order, axis=1)
        write = (jnp.arange(width) == lengths[:, :, None]) & ~done[:, :, None]
        return jnp.where(write, choice[:, :, None], tokens), jnp.where(done, lengths, lengths + 1), scores

    def unfinished(carry):
        tokens, lengths, _ = carry
        last = jnp.take_along_axis(tokens, lengths[:, :, None] - 1, axis=2)[..., 0]
        return jnp.any((last != END) & (lengths < width))

    @jax.jit
    def search(params, prefixes, lengths):
        n = prefixes.shape[0]
        tokens = jnp.repeat(prefixes[:, None], k, axis=1)
        scores = jnp.full((n, k), -jnp.inf).at[:, 0].set(0.0)
        carry = (tokens, jnp.repeat(lengths[:, None], k, axis=1), scores)
        tokens, lengths, scores = jax.lax.while_loop(unfinished, lambda carry: expand(params, carry), carry)
        best = jnp.argmax(scores / lengths.astype(jnp.float32) ** config.length_penalty, axis=1)[:, None]
        tokens = jnp.take_along_axis(tokens, best[:, :, None], axis=1)[:, 0]
        return tokens, jnp.take_along_axis(lengths, best, axis=1)[:, 0], jnp.take_along_axis(scores, best, axis=1)[:, 0]

    return search


def main():
    config = Config()
    words = make_words(config)
    model = CharTransformer(config)
    params = jax.jit(model.init)(jax.random.key(config.seed), jnp.zeros((1, config.max_length), jnp.int32))
    params = train(config, model, params, words)
    prefixes = [words[i][: 1 + i % 3] for i in range(config.prefixes)]
    buffer = np.zeros((config.prefixes, config.max_length), np.int32)
    buffer[:, 0] = START
    for row, prefix in zip(buffer, prefixes):
        row[1 : len(prefix) + 1] = [LETTERS.index(ch) for ch in prefix]
    lengths = np.array([len(prefix) + 1 for prefix in prefixes], np.int32)
    tokens, lengths, scores = jax.device_get(make_search(config, model)(params, buffer, lengths))
    for i in range(0, config.prefixes, 3):
        word = "".join(LETTERS[t] for t in tokens[i, : lengths[i]] if t < len(LETTERS))
        print(f"{prefixes[i]:4s} -> {word} ({scores[i]:.2f})")
    print(f"mean score {np.mean(scores):.3f}")


if __name__ == "__main__":
    main()
