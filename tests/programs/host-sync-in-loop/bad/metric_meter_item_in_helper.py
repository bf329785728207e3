# source: google/flax#1014
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def eval_step(params, batch):
    logits = batch["x"] @ params
    return {"loss": jnp.mean((logits - batch["y"]) ** 2), "acc": jnp.mean(logits > 0)}


class Meter:
    def __init__(self):
        self.sums, self.count = {}, 0

    def update(self, metrics):
        for name, value in metrics.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.item()  # finding
        self.count += 1

    def means(self):
        return {k: v / self.count for k, v in self.sums.items()}


def evaluate(params, loader):
    meter = Meter()
    for batch in loader:
        meter.update(eval_step(params, batch))  # finding-also
    return meter.means()


if __name__ == "__main__":
    print(evaluate(jnp.ones(3), [{"x": jnp.ones((2, 3)), "y": jnp.ones(2)}] * 3))
