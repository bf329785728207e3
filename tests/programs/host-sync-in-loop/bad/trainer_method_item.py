# source: openvdb/fvdb-reality-capture#144

import jax
import jax.numpy as jnp
import numpy as np


class Trainer:
    def __init__(self, params, lr):
        self.params = params
        self.lr = lr
        self.history = {"loss": [], "acc": []}
        self._step = jax.jit(self._update)

    def _update(self, params, x, labels):
        def loss_fn(p):
            logits = x @ p
            logp = jax.nn.log_softmax(logits)
            loss = -jnp.mean(jnp.take_along_axis(logp, labels[:, None], 1))
            return loss, jnp.mean(logits.argmax(-1) == labels)

        (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        return params - self.lr * grads, {"loss": loss, "acc": acc}

    def _record(self, metrics):
        for name, value in metrics.items():
            self.history[name].append(value.item())  # finding

    def fit(self, loader, epochs):
        for _ in range(epochs):
            for x, labels in loader:
                self.params, metrics = self._step(self.params, x, labels)
                self._record(metrics)  # finding-also
        return self


if __name__ == "__main__":
    loader = [(np.ones((4, 3), np.float32), np.array([0, 1, 0, 1]))] * 4
    print(Trainer(jnp.zeros((3, 2)), 0.1).fit(loader, 2).history["loss"][-1])
