# blind: sixteenth

"""Bag of words with a row for padding, a mask, and a gradient that is clipped in its own rule."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, DIM, MAX_LEN = 100, 16, 12
PAD = VOCAB


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def clip_gradient(x, limit):
    return x


def clip_gradient_fwd(x, limit):
    return x, None


def clip_gradient_bwd(limit, _, g):
    return (jnp.clip(g, -limit, limit),)


clip_gradient.defvjp(clip_gradient_fwd, clip_gradient_bwd)


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "table": jax.random.normal(k1, (VOCAB + 1, DIM)) * 0.1,
        "head": jax.random.normal(k2, (DIM, 2)) * 0.1,
    }


def pad_batch(sentences):
    out = np.full((len(sentences), MAX_LEN), PAD, np.int32)
    for i, words in enumerate(sentences):
        out[i, : len(words)] = words
    return out


def logits_fn(params, tokens):
    mask = (tokens != PAD)[..., None]
    vectors = params["table"][tokens] * mask
    pooled = vectors.sum(axis=1) / jnp.maximum(mask.sum(axis=1), 1)
    return clip_gradient(pooled, 0.1) @ params["head"]


def loss_fn(params, tokens, labels):
    logits = logits_fn(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.adam(1e-2)


@jax.jit  # finding-other
def step(params, opt_state, tokens, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    for i in range(50):
        words = [rng.integers(0, VOCAB, rng.integers(2, MAX_LEN)) for _ in range(32)]
        labels = np.array([len(w) % 2 for w in words], np.int32)
        params, opt_state, loss = step(params, opt_state, pad_batch(words), labels)
    print(loss)


if __name__ == "__main__":
    main()
