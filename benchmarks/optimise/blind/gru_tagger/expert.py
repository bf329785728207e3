"""Tag the tokens of variable-length sequences with a hand-written GRU (plain JAX and optax)."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    vocab: int = 40
    tags: int = 5
    embed: int = 16
    hidden: int = 32
    min_length: int = 4
    max_length: int = 7
    sentences: int = 900
    test_sentences: int = 200
    batch_size: int = 16
    epochs: int = 6
    learning_rate: float = 5e-3
    seed: int = 2


def make_sentences(config, count, rng):
    """A token's tag depends on its class, on the previous class and on whether a bracket is open."""
    word_class = np.arange(config.vocab) % 4
    data = []
    for _ in range(count):
        length = rng.integers(config.min_length, config.max_length + 1)
        words = rng.integers(0, config.vocab, size=length)
        tags, inside, previous = [], False, 0
        for word in words:
            if word < 4:
                inside = not inside
                tags.append(4)
            else:
                tags.append((word_class[word] + previous * inside) % 4)
            previous = word_class[word]
        data.append((words, np.array(tags)))
    return data


def padded_batches(data, batch_size, width):
    """Batches of equal length, all padded to one width: words, tags, lengths."""
    groups = {}
    for words, tags in data:
        groups.setdefault(len(words), []).append((words, tags))
    words, tags, lengths = [], [], []
    for length in sorted(groups):
        group = groups[length]
        for i in range(0, len(group) - batch_size + 1, batch_size):
            columns = [np.pad(np.stack(column), ((0, 0), (0, width - length))) for column in zip(*group[i : i + batch_size])]
            words.append(columns[0])
            tags.append(columns[1])
            lengths.append(length)
    return jax.device_put((np.array(words, np.int32), np.array(tags, np.int32), np.array(lengths, np.int32)))


def init_gru(key, inputs, hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w": jax.random.normal(k1, (inputs, 3 * hidden)) / jnp.sqrt(inputs),
        "u": jax.random.normal(k2, (hidden, 3 * hidden)) / jnp.sqrt(hidden),
        "b": jnp.zeros(3 * hidden),
    }


def init_params(config, key):
    keys = jax.random.split(key, 3)
    return {
        "embed": 0.5 * jax.random.normal(keys[0], (config.vocab, config.embed)),
        "gru": init_gru(keys[1], config.embed, config.hidden),
        "out": {
            "w": jax.random.normal(keys[2], (config.hidden, config.tags)) / jnp.sqrt(config.hidden),
            "b": jnp.zeros(config.tags),
        },
    }


def gru_cell(params, h, x):
    xr, xz, xn = jnp.split(x, 3, axis=-1)
    hr, hz, hn = jnp.split(h @ params["u"], 3, axis=-1)
    r = jax.nn.sigmoid(xr + hr)
    z = jax.nn.sigmoid(xz + hz)
    return (1 - z) * jnp.tanh(xn + r * hn) + z * h


def predict(params, words):
    """Time leads inside and in the result; what follows the end of a sentence is masked by the callers."""
    gru = params["gru"]
    xs = params["embed"][words.T] @ gru["w"] + gru["b"]
    h = jnp.zeros((words.shape[0], gru["u"].shape[0]))

    def step(h, x):
        h = gru_cell(gru, h, x)
        return h, h

    return jax.lax.scan(step, h, xs)[1] @ params["out"]["w"] + params["out"]["b"]


def loss_fn(params, words, tags, length):
    mask = jnp.arange(words.shape[1]) < length
    losses = optax.softmax_cross_entropy_with_integer_labels(predict(params, words), tags.T)
    return jnp.where(mask[:, None], losses, 0.0).sum() / (length * words.shape[0])


def count_correct(params, words, tags, length):
    mask = jnp.arange(words.shape[1]) < length
    return jnp.sum((predict(params, words).argmax(-1) == tags.T) & mask[:, None])


def main():
    config = Config()
    rng = np.random.default_rng(config.seed)
    train = padded_batches(make_sentences(config, config.sentences, rng), config.batch_size, config.max_length)
    test = padded_batches(make_sentences(config, config.test_sentences, rng), 8, config.max_length)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate))

    @jax.jit
    def init(key):
        params = init_params(config, key)
        return params, tx.init(params)

    @partial(jax.jit, donate_argnums=0)
    def train_epoch(carry, train, order, test):
        def update(carry, i):
            params, opt_state = carry
            loss, grads = jax.value_and_grad(loss_fn)(params, *(column[i] for column in train))
            updates, opt_state = tx.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), loss

        carry, losses = jax.lax.scan(update, carry, order)
        correct = jax.vmap(partial(count_correct, carry[0]))(*test).sum()
        return carry, losses, correct

    carry = init(jax.random.key(config.seed))
    count, total = len(train[2]), 8 * int(test[2].sum())
    print(f"{count} training batches, {len(test[2])} test batches")
    for epoch in range(config.epochs):
        carry, losses, correct = train_epoch(carry, train, rng.permutation(count), test)
        losses = np.asarray(losses)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3g} (last {losses[-1]:.3g}), test accuracy {int(correct) / total:.3f}")


if __name__ == "__main__":
    main()
