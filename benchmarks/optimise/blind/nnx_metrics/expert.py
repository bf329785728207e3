# After flax' nnx basics guide: the step under nnx.jit, metrics updated inside it.
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(16, 64, rngs=rngs)
        self.norm = nnx.LayerNorm(64, rngs=rngs)
        self.out = nnx.Linear(64, 8, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.gelu(self.norm(self.hidden(x))))


class Decoder(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(8, 64, rngs=rngs)
        self.out = nnx.Linear(64, 16, rngs=rngs)

    def __call__(self, z):
        return self.out(nnx.gelu(self.hidden(z)))


class AutoEncoder(nnx.Module):
    def __init__(self, rngs):
        self.encoder = Encoder(rngs)
        self.decoder = Decoder(rngs)

    def __call__(self, x):
        return self.decoder(self.encoder(x))


def loss_fn(model, batch):
    reconstruction = model(batch)
    return jnp.mean((reconstruction - batch) ** 2)


@nnx.jit(donate_argnums=(0, 1, 2))
def train_step(model, optimizer, metrics, batch):
    loss, grads = nnx.value_and_grad(loss_fn)(model, batch)
    optimizer.update(model, grads)
    metrics.update(loss=loss)


@nnx.jit
def spread(encoder, data):
    return jnp.std(encoder(data))


class Trainer:
    def __init__(self, model, learning_rate):
        self.model = model
        self.optimizer = nnx.Optimizer(model, optax.adam(learning_rate), wrt=nnx.Param)
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
        self.history = []

    def step(self, batch):
        train_step(self.model, self.optimizer, self.metrics, batch)

    def train_epoch(self, batches):
        for batch in batches:
            self.step(batch)
        self.history.append(self.metrics.compute()["loss"].item())
        self.metrics.reset()


def batches(rng, data, size):
    order = rng.permutation(len(data))
    for start in range(0, len(data) - size + 1, size):
        yield data[order[start : start + size]]


def main():
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(6, 16))
    data = np.tanh(rng.normal(size=(512, 6)) @ mixing).astype(np.float32)
    trainer = Trainer(AutoEncoder(nnx.Rngs(0)), 2e-3)
    for epoch in range(4):
        trainer.train_epoch(batches(rng, data, 32))
        print(f"epoch {epoch}: loss {trainer.history[-1]:.5f} spread {float(spread(trainer.model.encoder, data)):.4f}")


if __name__ == "__main__":
    main()
