# source: jax-ml/jax#9131
# blind: first

import jax
import jax.numpy as jnp


def confusion(pred, target, classes):
    flat = target * classes + pred
    return jnp.bincount(flat).reshape(classes, classes)  # finding


class Metrics:
    def __init__(self, classes):
        self.classes = classes
        self.update = jax.jit(self._update)

    def _update(self, total, logits, target):
        return total + confusion(logits.argmax(-1), target, self.classes)


if __name__ == "__main__":
    m = Metrics(3)
    print(m.update(jnp.zeros((3, 3)), jnp.eye(3), jnp.arange(3)))
