# blind: sixteenth

"""Bag of words with a padding token behind the vocabulary."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB = 100
PAD = VOCAB  # finding-also
DIM = 16
MAX_LEN = 12


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "table": jax.random.normal(k1, (VOCAB, DIM)) * 0.1,
        "head": jax.random.normal(k2, (DIM, 2)) * 0.1,
    }


def pad_batch(sentences):
    out = np.full((len(sentences), MAX_LEN), PAD, np.int32)
    for i, words in enumerate(sentences):
        out[i, : len(words)] = words[:MAX_LEN]
    return out


def logits_fn(params, tokens):
    vectors = params["table"][tokens]  # finding
    pooled = vectors.sum(axis=1) / MAX_LEN
    return pooled @ params["head"]


def loss_fn(params, tokens, labels):
    logits = logits_fn(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.adam(1e-2)


@jax.jit
def step(params, opt_state, tokens, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def sentences(rng, n):
    for _ in range(n):
        length = rng.integers(2, MAX_LEN)
        yield rng.integers(0, VOCAB, length)


def main():
    rng = np.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    for i in range(50):
        tokens = pad_batch(list(sentences(rng, 32)))
        labels = rng.integers(0, 2, 32)
        params, opt_state, loss = step(params, opt_state, tokens, labels)
    print(loss, jnp.array_equal(params["table"][PAD], params["table"][VOCAB - 1]))


if __name__ == "__main__":
    main()
