"""Character model of synthetic cooking instructions: gated linear recurrence, adamw, sampling."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Config:
    d_model: int = 48
    n_layers: int = 2
    d_ff: int = 96
    context: int = 20
    batch_size: int = 24
    steps: int = 160
    warmup: int = 20
    peak_lr: float = 4e-3
    weight_decay: float = 1e-2
    clip: float = 1.0
    eval_windows: int = 8
    sample_len: int = 9
    seed: int = 11


VERBS = ["chop", "boil", "stir", "fry", "peel", "salt"]
THINGS = ["leeks", "rice", "eggs", "beans", "corn", "fish"]
UNITS = ["cups", "pans", "bowls"]


def make_text(n_sentences, seed):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n_sentences):
        v, t, u = rng.choice(VERBS), rng.choice(THINGS), rng.choice(UNITS)
        out.append(f"{v} {rng.integers(2, 9)} {u} of {t}. ")
    return "".join(out)


class Vocab:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def __len__(self):
        return len(self.chars)

    def encode(self, s):
        return np.array([self.index[c] for c in s], dtype=np.int64)

    def decode(self, ids):
        return "".join(self.chars[int(i)] for i in ids)


def dense(key, n_in, n_out):
    return jax.random.normal(key, (n_in, n_out)) / np.sqrt(n_in)


def init_params(key, cfg, n_vocab):
    k_emb, k_out, *k_blocks = jax.random.split(key, 2 + cfg.n_layers)
    blocks = []
    for k in k_blocks:
        ks = jax.random.split(k, 6)
        blocks.append({
            "scale1": jnp.ones(cfg.d_model), "scale2": jnp.ones(cfg.d_model),
            "forget": dense(ks[0], cfg.d_model, cfg.d_model), "forget_b": jnp.ones(cfg.d_model),
            "value": dense(ks[1], cfg.d_model, cfg.d_model),
            "gate": dense(ks[2], cfg.d_model, cfg.d_model),
            "out": dense(ks[3], cfg.d_model, cfg.d_model),
            "up": dense(ks[4], cfg.d_model, cfg.d_ff), "down": dense(ks[5], cfg.d_ff, cfg.d_model),
        })
    return {"embed": 0.1 * jax.random.normal(k_emb, (n_vocab, cfg.d_model)),
            "blocks": blocks, "head": dense(k_out, cfg.d_model, n_vocab)}


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * scale


def recurrence(blk, x):
    a = jax.nn.sigmoid(x @ blk["forget"] + blk["forget_b"])
    v = jnp.tanh(x @ blk["value"])
    h = jnp.zeros_like(x[:, 0])
    hs = []
    for t in range(x.shape[1]):
        h = a[:, t] * h + (1.0 - a[:, t]) * v[:, t]
        hs.append(h)
    h = jnp.stack(hs, axis=1)
    return (h * jax.nn.silu(x @ blk["gate"])) @ blk["out"]


def forward(params, tokens):
    x = params["embed"][tokens]
    for blk in params["blocks"]:
        x = x + recurrence(blk, rms_norm(x, blk["scale1"]))
        y = rms_norm(x, blk["scale2"])
        x = x + jax.nn.gelu(y @ blk["up"]) @ blk["down"]
    return x @ params["head"]


def loss_fn(params, inputs, targets):
    logits = forward(params, inputs)
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


grad_fn = jax.jit(jax.value_and_grad(loss_fn))
predict = jax.jit(forward)


def get_batch(data, cfg, rng):
    starts = rng.integers(0, len(data) - cfg.context - 1, size=cfg.batch_size)
    x = jnp.stack([jnp.array(data[s:s + cfg.context]) for s in starts])
    y = jnp.stack([jnp.array(data[s + 1:s + cfg.context + 1]) for s in starts])
    return x, y


def evaluate(params, data, cfg):
    total = 0.0
    for i in range(cfg.eval_windows):
        s = i * cfg.context
        x = jnp.array(data[s:s + cfg.context])[None]
        y = jnp.array(data[s + 1:s + cfg.context + 1])[None]
        total += loss_fn(params, x, y).item()
    return total / cfg.eval_windows


def sample(params, prompt, cfg, key, temperature):
    ids = [int(i) for i in prompt]
    for _ in range(cfg.sample_len):
        logits = predict(params, jnp.array(ids)[None])[0, -1]
        key, sub = jax.random.split(key)
        ids.append(int(jax.random.categorical(sub, logits / temperature)))
    return ids


def main():
    cfg = Config()
    text = make_text(600, cfg.seed)
    vocab = Vocab(text)
    data = vocab.encode(text)
    split = int(0.9 * len(data))
    train, val = data[:split], data[split:]
    params = init_params(jax.random.PRNGKey(cfg.seed), cfg, len(vocab))
    schedule = optax.warmup_cosine_decay_schedule(0.0, cfg.peak_lr, cfg.warmup, cfg.steps, 1e-4)
    tx = optax.chain(optax.clip_by_global_norm(cfg.clip), optax.adamw(schedule, weight_decay=cfg.weight_decay))
    opt_state = tx.init(params)
    rng = np.random.default_rng(cfg.seed)
    history = []
    for step in range(cfg.steps):
        x, y = get_batch(train, cfg, rng)
        loss, grads = grad_fn(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        history.append(float(loss))
        if (step + 1) % 80 == 0:
            print(f"step {step + 1} train {np.mean(history[-80:]):.3f} val {evaluate(params, val, cfg):.3f}")
    for i, temperature in enumerate((0.3, 0.8)):
        ids = sample(params, vocab.encode("boil 3"), cfg, jax.random.PRNGKey(i), temperature)
        print(f"T={temperature}: {vocab.decode(ids)!r}")


if __name__ == "__main__":
    main()
