"""A character LSTM in haiku, trained on a generated text."""
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

SEQ_LEN = 14
BATCH = 16
HIDDEN = 48
STEPS = 90
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "one", "rat", "run"]


class TrainingState(NamedTuple):
    params: hk.Params
    avg_params: hk.Params
    opt_state: optax.OptState


def corpus():
    rng = np.random.default_rng(0)
    text = " ".join(rng.choice(WORDS, size=4000))
    vocab = sorted(set(text))
    table = {c: i for i, c in enumerate(vocab)}
    return np.array([table[c] for c in text]), len(vocab)


DATA, VOCAB = corpus()


def network(tokens):
    embed = hk.Embed(VOCAB, 24)
    lstm = hk.LSTM(HIDDEN)
    out = hk.Linear(VOCAB)
    state = lstm.initial_state(tokens.shape[0])
    x = embed(tokens)
    outputs = []
    for t in range(tokens.shape[1]):
        h, state = lstm(x[:, t], state)
        outputs.append(out(h))
    return jnp.stack(outputs, axis=1)


net = hk.without_apply_rng(hk.transform(network))
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(4e-3))


def loss_fn(params, batch):
    logits = net.apply(params, batch[:, :-1])
    targets = batch[:, 1:]
    logp = jax.nn.log_softmax(logits)
    nll = -jnp.take_along_axis(logp, targets[..., None], axis=-1)
    return jnp.mean(nll)


@jax.jit
def gradients(params, batch):
    return jax.value_and_grad(loss_fn)(params, batch)


def update(state, batch):
    loss, grads = gradients(state.params, batch)
    updates, opt_state = optimizer.update(grads, state.opt_state)
    params = optax.apply_updates(state.params, updates)
    avg = jax.tree.map(lambda a, p: 0.95 * a + 0.05 * p, state.avg_params, params)
    return TrainingState(params, avg, opt_state), loss


def sample_batch(rng):
    starts = rng.integers(0, len(DATA) - SEQ_LEN - 1, size=BATCH)
    return np.stack([DATA[s:s + SEQ_LEN + 1] for s in starts])


def main():
    rng = np.random.default_rng(1)
    params = net.init(jax.random.PRNGKey(0), sample_batch(rng)[:, :-1])
    state = TrainingState(params, params, optimizer.init(params))
    valid = sample_batch(np.random.default_rng(99))
    total = 0.0
    for step in range(1, STEPS + 1):
        state, loss = update(state, sample_batch(rng))
        total += float(loss)
        if step % 30 == 0:
            val = jax.jit(loss_fn)(state.avg_params, valid)
            print(f"{step:4d} train {total / 30:.3f} valid {float(val):.3f}")
            total = 0.0


if __name__ == "__main__":
    main()
