# source: catalyst-team/catalyst#285
# blind: twentieth

"""Sentence classifier: attention pooling over token features (haiku)."""
from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, DIM, CLASSES, PAD = 50, 16, 3, 0


class AttentionPool(hk.Module):
    def __call__(self, tokens, mask):
        """tokens: (batch, time, dim), mask: (batch, time) with True on real tokens."""
        score = hk.Linear(1)(jnp.tanh(hk.Linear(DIM)(tokens))).squeeze(-1)
        score = jnp.where(mask, score, -1e9)
        weight = jax.nn.softmax(score, axis=0)  # finding
        return jnp.einsum("bt,btd->bd", weight, tokens)  # finding-also


def forward(ids):
    mask = ids != PAD
    tokens = hk.Embed(VOCAB, DIM)(ids)
    pooled = AttentionPool()(tokens, mask)
    return hk.Linear(CLASSES)(pooled)


def make_batch(rng, size, length=12):
    ids = rng.integers(1, VOCAB, size=(size, length))
    lengths = rng.integers(4, length + 1, size=size)
    ids[np.arange(length)[None, :] >= lengths[:, None]] = PAD
    labels = ids[:, 0] % CLASSES
    return ids.astype(np.int32), labels.astype(np.int32)


def main(steps=60):
    net = hk.without_apply_rng(hk.transform(forward))
    rng = np.random.default_rng(0)
    ids, labels = make_batch(rng, 64)
    params = net.init(jax.random.key(0), ids)
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)

    def loss_fn(params, ids, labels):
        logits = net.apply(params, ids)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, ids, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, ids, labels)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, *make_batch(rng, 64))
    print("loss", float(loss))


if __name__ == "__main__":
    main()
