# blind: sixteenth

"""Denoising autoencoder with flax.nnx."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class AutoEncoder(nnx.Module):
    def __init__(self, din: int, hidden: int, rngs: nnx.Rngs):
        self.enc = nnx.Linear(din, hidden, rngs=rngs)
        self.norm = nnx.LayerNorm(hidden, rngs=rngs)
        self.dec = nnx.Linear(hidden, din, rngs=rngs)

    def __call__(self, x):
        h = nnx.relu(self.norm(self.enc(x)))
        return self.dec(h)


class Trainer:
    def __init__(self, din=32, hidden=16, lr=1e-2):
        self.model = AutoEncoder(din, hidden, nnx.Rngs(0))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(lr), wrt=nnx.Param)

    def fit(self, batches):
        history = []
        for clean, noisy in batches:
            loss = train_step(self.model, self.optimizer, clean, noisy)
            history.append(loss)
        return jnp.stack(history)


def reconstruction_loss(model, clean, noisy):
    return jnp.mean((model(noisy) - clean) ** 2)


@jax.jit  # finding-also
def train_step(model, optimizer, clean, noisy):  # finding-also
    loss, grads = nnx.value_and_grad(reconstruction_loss)(model, clean, noisy)
    optimizer.update(model, grads)  # finding
    return loss


def batches(n, size, din, seed=0):
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(4, din)).astype(np.float32)
    for _ in range(n):
        clean = rng.normal(size=(size, 4)).astype(np.float32) @ basis
        noisy = clean + 0.1 * rng.normal(size=clean.shape).astype(np.float32)
        yield clean, noisy


def main():
    trainer = Trainer()
    history = trainer.fit(batches(200, 64, 32))
    print("first", history[0], "last", history[-1])


if __name__ == "__main__":
    main()
