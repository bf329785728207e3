# source: jax-ml/jax#5492

import haiku as hk
import jax
import jax.numpy as jnp

rng_seq = hk.PRNGSequence(42)


class Metrics:
    def __init__(self):
        self.values = {}
        self.steps = 0

    def log(self, **values):
        self.steps = self.steps + 1
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)
            setattr(self, f"last_{name}", value)


@jax.jit
def loss(w, key, x, y):
    seen = {}
    keep = jax.random.bernoulli(key, 0.8, x.shape)
    seen.setdefault("kept", []).append(jnp.where(keep, x, 0.0))
    return jnp.mean((seen["kept"][0] @ w - y) ** 2)


def main():
    metrics = Metrics()
    for _ in range(3):
        metrics.log(loss=loss(jnp.ones(4), next(rng_seq), jnp.ones((2, 4)), jnp.ones(2)))
    print(metrics.steps, metrics.last_loss)


main()
