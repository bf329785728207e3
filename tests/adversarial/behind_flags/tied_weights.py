# flags: --tie
# flags: --tie --steps 5 --save
"""A tiny language model of bytes, with or without shared weights of its embedding and output."""

import argparse
import pickle

import jax
import jax.numpy as jnp
import numpy as np

TEXT = b"the quick brown fox jumps over the lazy dog and runs away from the slow cat " * 30


def init(key, width, tie):
    a, b, c = jax.random.split(key, 3)
    embed = 0.1 * jax.random.normal(a, (128, width))
    return {
        "embed": embed,
        "hidden": jax.random.normal(b, (width, width)) / np.sqrt(width),
        "out": embed if tie else 0.1 * jax.random.normal(c, (128, width)),
    }


def logits(params, tokens):
    h = params["embed"][tokens]
    h = jnp.cumsum(h, axis=1) / jnp.arange(1, tokens.shape[1] + 1)[None, :, None]
    h = h + jax.nn.gelu(h @ params["hidden"])
    return h @ params["out"].T


def cross_entropy(params, tokens):
    scores = jax.nn.log_softmax(logits(params, tokens[:, :-1]))
    return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], axis=-1))


@jax.jit
def update(params, tokens, rate):
    loss, grads = jax.value_and_grad(cross_entropy)(params, tokens)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads), loss


def share(params):
    mean = 0.5 * (params["embed"] + params["out"])
    return {**params, "embed": mean, "out": mean}


def sample(params, start, n):
    tokens = list(start)
    for _ in range(n):
        scores = logits(params, jnp.asarray(tokens[-16:])[None])[0, -1]
        tokens.append(int(jnp.argmax(scores)))
    return bytes(tokens)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tie", action="store_true")
    ap.add_argument("--steps", type=int, default=80)
    ap.add_argument("--save", action="store_true")
    args = ap.parse_args()

    data = np.frombuffer(TEXT, np.uint8).astype(np.int32)
    rng = np.random.default_rng(0)
    params = init(jax.random.key(0), 192, args.tie)
    losses = []
    for i in range(args.steps):
        starts = rng.integers(0, len(data) - 33, 32)
        tokens = np.stack([data[s : s + 33] for s in starts])
        params, loss = update(params, tokens, 0.5)
        if args.tie:
            params = share(params)
        losses.append(float(loss))
    print("first", f"{losses[0]:.3f}", "last", f"{losses[-1]:.3f}")
    print(sample(params, b"the ", 12))
    if args.save:
        with open("model.pkl", "wb") as f:
            pickle.dump({k: np.asarray(v).round(2).shape for k, v in params.items()}, f)


if __name__ == "__main__":
    main()
