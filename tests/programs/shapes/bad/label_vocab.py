# blind: twentieth
# missed: which numbers a loop over a vocabulary gives

"""Species classifier: label vocabulary, one-hot targets, label smoothing."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

SPECIES = ("adelie", "chinstrap", "gentoo", "king")


class LabelVocab:
    """Maps names to ids. Id 0 stands for an unlabelled row."""

    def __init__(self, names):
        self.ids = {name: i for i, name in enumerate(names, start=1)}  # finding-also

    def __len__(self):
        return len(self.ids)  # finding-also

    def encode(self, names):
        return np.array([self.ids.get(n, 0) for n in names], np.int32)


def make_rows(rng, n=400):
    which = rng.integers(0, len(SPECIES), size=n)
    x = rng.standard_normal((n, 6)).astype(np.float32)
    x[np.arange(n), which] += 2.0
    return x, [SPECIES[i] for i in which]


def smooth(onehot, amount):
    return (1.0 - amount) * onehot + amount / onehot.shape[-1]


def loss_fn(params, x, ids, num_classes):
    logits = x @ params["w"] + params["b"]
    target = smooth(jax.nn.one_hot(ids, num_classes), 0.05)  # finding
    nll = -jnp.sum(target * jax.nn.log_softmax(logits), axis=-1)
    labelled = ids > 0
    return jnp.sum(nll * labelled) / jnp.maximum(labelled.sum(), 1)


def train(vocab, x, ids, steps=200):
    num_classes = len(vocab)  # finding-also
    params = {"w": jnp.zeros((x.shape[1], num_classes)), "b": jnp.zeros(num_classes)}  # finding-also
    tx = optax.adam(0.05)
    opt_state = tx.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, ids):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, ids, num_classes)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, x, ids)
    return params, loss


def main():
    vocab = LabelVocab(SPECIES)
    x, names = make_rows(np.random.default_rng(0))
    ids = vocab.encode(names)
    params, loss = train(vocab, x, ids)
    pred = np.asarray(jnp.argmax(x @ params["w"] + params["b"], axis=-1))
    print("loss", float(loss))
    for name, i in vocab.ids.items():
        print(name, "recall", (pred[ids == i] == i).mean())


if __name__ == "__main__":
    main()
