"""Greedy and sampled captions: a GRU decoder with attention over image regions."""

import jax
import jax.numpy as jnp
import numpy as np

VOCAB, HIDDEN, REGIONS, BOS, EOS = 300, 96, 16, 1, 2


def init(key):
    ks = jax.random.split(key, 8)
    s = 1 / np.sqrt(HIDDEN)
    return {
        "embed": jax.random.normal(ks[0], (VOCAB, HIDDEN)) * 0.5,
        "wx": jax.random.normal(ks[1], (2 * HIDDEN, 3 * HIDDEN)) * s,
        "wh": jax.random.normal(ks[2], (HIDDEN, 3 * HIDDEN)) * s,
        "b": jnp.zeros(3 * HIDDEN),
        "query": jax.random.normal(ks[3], (HIDDEN, HIDDEN)) * s,
        "start": jax.random.normal(ks[4], (HIDDEN, HIDDEN)) * s,
        "out": jax.random.normal(ks[5], (HIDDEN, VOCAB)) * 2 * s,
        "out_b": jnp.zeros(VOCAB).at[EOS].set(1.5),
    }


def attend(params, h, regions):
    scores = jnp.einsum("bh,brh->br", h @ params["query"], regions) / np.sqrt(HIDDEN)
    return jnp.einsum("br,brh->bh", jax.nn.softmax(scores), regions)


def gru(params, h, x):
    gx = x @ params["wx"] + params["b"]
    gh = h @ params["wh"]
    r = jax.nn.sigmoid(gx[:, :HIDDEN] + gh[:, :HIDDEN])
    z = jax.nn.sigmoid(gx[:, HIDDEN : 2 * HIDDEN] + gh[:, HIDDEN : 2 * HIDDEN])
    n = jnp.tanh(gx[:, 2 * HIDDEN :] + r * gh[:, 2 * HIDDEN :])
    return (1 - z) * n + z * h


def step(params, h, token, regions):
    context = attend(params, h, regions)
    x = jnp.concatenate([params["embed"][token], context], axis=-1)
    h = gru(params, h, x)
    return h, h @ params["out"] + params["out_b"]


def generate(params, regions, key, max_length, temperature, top_k):
    batch = regions.shape[0]
    h = jnp.tanh(regions.mean(axis=1) @ params["start"])
    tokens = jnp.full((batch, 1), BOS)
    finished = jnp.zeros(batch, bool)
    total = jnp.zeros(batch)
    for _ in range(max_length):
        h, logits = step(params, h, tokens[:, -1], regions)
        log_probs = jax.nn.log_softmax(logits)
        if temperature == 0:
            token = jnp.argmax(logits, axis=-1)
        else:
            key, sub = jax.random.split(key)
            values, _ = jax.lax.top_k(logits, top_k)
            masked = jnp.where(logits < values[:, -1:], -jnp.inf, logits)
            token = jax.random.categorical(sub, masked / temperature)
        token = jnp.where(finished, 0, token)
        chosen = jnp.take_along_axis(log_probs, token[:, None], axis=1)[:, 0]
        total = total + jnp.where(finished, 0.0, chosen)
        tokens = jnp.concatenate([tokens, token[:, None]], axis=1)
        finished = finished | (token == EOS)
        if finished.all():
            break
    return tokens, total


def trim(row):
    row = list(row[1:])
    return row[: row.index(EOS)] if EOS in row else row


def main():
    key = jax.random.PRNGKey(0)
    key, init_key, data_key = jax.random.split(key, 3)
    params = init(init_key)
    images = jax.random.normal(data_key, (24, 32, REGIONS, HIDDEN))
    lengths, scores = [], []
    for i in range(len(images)):
        tokens, total = generate(params, images[i], key, 40, 0, None)
        captions = [trim(row) for row in np.array(tokens)]
        lengths += [len(c) for c in captions]
        for _ in range(2):
            key, sub = jax.random.split(key)
            sampled, sampled_total = generate(params, images[i], sub, 40, 0.8, 20)
            better = sampled_total > total
            total = jnp.where(better, sampled_total, total)
        scores.append(float(total.mean()))
        if (i + 1) % 8 == 0:
            print(f"image {i + 1}: score {np.mean(scores):.3f} length {np.mean(lengths):.2f} first {captions[0][:5]}")


if __name__ == "__main__":
    main()
