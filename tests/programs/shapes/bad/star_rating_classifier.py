# source: google-deepmind/optax#1185
# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

NUM_STARS = 5


class ReviewClassifier(nnx.Module):
    def __init__(self, vocab, dim, rngs: nnx.Rngs):
        self.embed = nnx.Embed(vocab, dim, rngs=rngs)
        self.hidden = nnx.Linear(dim, 2 * dim, rngs=rngs)
        self.head = nnx.Linear(2 * dim, NUM_STARS, rngs=rngs)  # finding-also

    def __call__(self, tokens):
        x = self.embed(tokens).mean(axis=1)
        return self.head(nnx.relu(self.hidden(x)))


def synthetic_reviews(seed, n, vocab):
    rng = np.random.default_rng(seed)
    stars = rng.integers(1, NUM_STARS + 1, size=n)  # finding-also
    tokens = rng.integers(0, vocab, size=(n, 24))
    tokens[:, :8] = stars[:, None] * 7
    return {"tokens": tokens.astype(np.int32), "stars": stars.astype(np.int32)}


def loss_fn(model, batch):
    logits = model(batch["tokens"])
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch["stars"])  # finding
    return losses.mean()


@nnx.jit
def train_step(model, optimizer, batch):
    loss, grads = nnx.value_and_grad(loss_fn)(model, batch)
    optimizer.update(model, grads)
    return loss


def main():
    data = synthetic_reviews(0, 512, 200)
    model = ReviewClassifier(200, 32, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    for epoch in range(5):
        for lo in range(0, 512, 128):
            batch = jax.tree.map(lambda a: jnp.asarray(a[lo : lo + 128]), data)
            loss = train_step(model, optimizer, batch)
        print("epoch", epoch, "loss", float(loss))


if __name__ == "__main__":
    main()
