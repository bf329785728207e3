# source: poets-ai/elegy#141
# blind: fifteenth
import sys
from functools import partial

import jax
import jax.numpy as jnp


class ProgressBar:
    def on_epoch_begin(self, epoch):
        sys.stdout.write(f"epoch {epoch}: ")

    def on_batch_end(self, batch, logs):
        if batch % 100:
            return
        text = " - ".join(f"{k} {float(v):.4f}" for k, v in logs.items())
        sys.stdout.write(f"\rbatch {batch} - {text}")

    def on_epoch_end(self, epoch):
        sys.stdout.write("\n")


class Model:
    def __init__(self, params, lr):
        self.params = params
        self.lr = lr

    def fit(self, batches, epochs, callbacks):
        for epoch in range(epochs):
            for cb in callbacks:
                cb.on_epoch_begin(epoch)
            for i, (x, y) in enumerate(batches):
                self.params, logs = train_on_batch(self.params, x, y, self.lr)
                for cb in callbacks:
                    cb.on_batch_end(i, logs)
            for cb in callbacks:
                cb.on_epoch_end(epoch)
        return self


@partial(jax.jit, donate_argnums=0)
def train_on_batch(params, x, y, lr):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(params)
    return params - lr * grad, {"loss": loss, "grad": jnp.max(jnp.abs(grad))}


if __name__ == "__main__":
    data = [(jnp.ones((4, 3)), jnp.ones(4))] * 10
    Model(jnp.zeros(3), 0.05).fit(data, 2, [ProgressBar()])
