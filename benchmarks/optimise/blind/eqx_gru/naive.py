"""Sequence classification with a GRU: does the spiral turn left or right?"""
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Classifier(eqx.Module):
    cell: eqx.nn.GRUCell
    head: eqx.nn.Linear
    hidden_size: int

    def __init__(self, in_size, hidden_size, *, key):
        ckey, hkey = jax.random.split(key)
        self.hidden_size = hidden_size
        self.cell = eqx.nn.GRUCell(in_size, hidden_size, key=ckey)
        self.head = eqx.nn.Linear(hidden_size, 1, key=hkey)

    def __call__(self, seq):
        h = jnp.zeros(self.hidden_size)
        for t in range(seq.shape[0]):
            h = self.cell(seq[t], h)
        return self.head(h)[0]


def spirals(n, length, seed):
    rng = np.random.default_rng(seed)
    turn = rng.integers(0, 2, size=n)
    t = np.linspace(0, 4 * np.pi, length)
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1))
    sign = np.where(turn == 1, 1.0, -1.0)[:, None]
    x = np.stack([t * np.cos(sign * t + phase), t * np.sin(sign * t + phase)], -1)
    x = x / (4 * np.pi) + 0.1 * rng.normal(size=x.shape)
    return x.astype(np.float32), turn.astype(np.float32)


@eqx.filter_value_and_grad
def compute_loss(model, x, y):
    logits = jax.vmap(model)(x)
    return optax.sigmoid_binary_cross_entropy(logits, y).mean()


def batches(x, y, batch_size, rng):
    while True:
        perm = rng.permutation(len(x))
        for i in range(0, len(x) - batch_size + 1, batch_size):
            idx = perm[i:i + batch_size]
            yield x[idx], y[idx]


def accuracy(model, x, y):
    logits = eqx.filter_jit(jax.vmap(model))(x)
    return float(jnp.mean((logits > 0) == (y > 0.5)))


def train(steps=90, batch_size=64, length=24, hidden=16, lr=5e-3):
    x, y = spirals(1024, length, seed=0)
    test_x, test_y = spirals(256, length, seed=1)
    model = Classifier(2, hidden, key=jax.random.key(42))
    optim = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(lr))
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    grad_fn = eqx.filter_jit(compute_loss)

    history = []
    loader = batches(x, y, batch_size, np.random.default_rng(3))
    for step, (bx, by) in zip(range(steps), loader):
        loss, grads = grad_fn(model, bx, by)
        updates, opt_state = optim.update(grads, opt_state, model)
        model = eqx.apply_updates(model, updates)
        history.append(loss.item())
        if step % 30 == 29:
            recent = sum(history[-30:]) / 30
            print(f"step {step + 1} loss {recent:.2f} acc {accuracy(model, test_x, test_y):.2f}")
    return model


if __name__ == "__main__":
    train()
