"""Tag the tokens of variable-length sequences with a hand-written GRU (plain JAX and optax)."""
from dataclasses import dataclass

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


def batches_by_length(data, batch_size):
    groups = {}
    for words, tags in data:
        groups.setdefault(len(words), []).append((words, tags))
    batches = []
    for length in sorted(groups):
        group = groups[length]
        for i in range(0, len(group) - batch_size + 1, batch_size):
            words, tags = zip(*group[i : i + batch_size])
            batches.append((jnp.array(words), jnp.array(tags)))
    return batches


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
    xr, xz, xn = jnp.split(x @ params["w"] + params["b"], 3, axis=-1)
    hr, hz, hn = jnp.split(h @ params["u"], 3, axis=-1)
    r = jax.nn.sigmoid(xr + hr)
    z = jax.nn.sigmoid(xz + hz)
    return (1 - z) * jnp.tanh(xn + r * hn) + z * h


def run_gru(params, xs):
    h = jnp.zeros((xs.shape[0], params["u"].shape[0]))
    outputs = []
    for t in range(xs.shape[1]):
        h = gru_cell(params, h, xs[:, t])
        outputs.append(h)
    return outputs


@jax.jit
def predict(params, words):
    xs = params["embed"][words]
    features = jnp.stack(run_gru(params["gru"], xs), axis=1)
    return features @ params["out"]["w"] + params["out"]["b"]


def loss_fn(params, words, tags):
    return optax.softmax_cross_entropy_with_integer_labels(predict(params, words), tags).mean()


def main():
    config = Config()
    rng = np.random.default_rng(config.seed)
    train = batches_by_length(make_sentences(config, config.sentences, rng), config.batch_size)
    test = batches_by_length(make_sentences(config, config.test_sentences, rng), 8)
    params = init_params(config, jax.random.key(config.seed))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate))
    opt_state = tx.init(params)

    @jax.jit
    def update(params, opt_state, words, tags):
        loss, grads = jax.value_and_grad(loss_fn)(params, words, tags)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    print(f"{len(train)} training batches, {len(test)} test batches")
    for epoch in range(config.epochs):
        losses = []
        for i in rng.permutation(len(train)):
            params, opt_state, loss = update(params, opt_state, *train[i])
            losses.append(float(loss))
        correct = total = 0
        for words, tags in test:
            guesses = np.asarray(predict(params, words)).argmax(-1)
            correct += (guesses == np.asarray(tags)).sum()
            total += tags.size
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3g} (last {losses[-1]:.3g}), test accuracy {correct / total:.3f}")


if __name__ == "__main__":
    main()
