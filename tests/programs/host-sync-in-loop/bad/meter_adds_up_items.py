# source: goodfire-ai/spd#702
# blind: fourth

import collections

import jax
import jax.numpy as jnp
import optax


class Meter:
    def __init__(self):
        self.total = collections.defaultdict(float)
        self.count = 0

    def update(self, **values):
        for name, value in values.items():
            self.total[name] += value.item()  # finding-also
        self.count += 1

    def means(self):
        return {name: total / self.count for name, total in self.total.items()}


class Trainer:
    def __init__(self, params, tx):
        self.params, self.tx = params, tx
        self.opt_state = tx.init(params)
        self.step = jax.jit(self._step)

    def _step(self, params, opt_state, batch):
        def loss_fn(p):
            logits = batch["x"] @ p["w"] + p["b"]
            return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean(), logits

        (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        updates, opt_state = self.tx.update(grads, opt_state, params)
        accuracy = jnp.mean(logits.argmax(-1) == batch["y"])
        return optax.apply_updates(params, updates), opt_state, loss, accuracy

    def fit_epoch(self, batches):
        meter = Meter()
        for batch in batches:
            self.params, self.opt_state, loss, accuracy = self.step(self.params, self.opt_state, batch)
            meter.update(loss=loss, accuracy=accuracy)  # finding
        return meter.means()


if __name__ == "__main__":
    trainer = Trainer({"w": jnp.zeros((8, 3)), "b": jnp.zeros(3)}, optax.adam(1e-2))
    print(trainer.fit_epoch([{"x": jnp.ones((4, 8)) * i, "y": jnp.arange(4) % 3} for i in range(20)]))
