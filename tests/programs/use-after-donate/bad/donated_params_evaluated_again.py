# source: jax-ml/jax#7144
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


@partial(jax.jit, donate_argnames=("params",))
def train_step(params, x):
    return params - 0.1 * jax.grad(loss)(params, x)


class Trainer:
    def __init__(self, params):
        self.params = params

    def fit(self, batches):
        best = loss(self.params, batches[0])
        for x in batches:
            updated = train_step(self.params, x)  # finding-also
            if loss(updated, x) < best:
                self.params = updated
        return loss(self.params, batches[0])  # finding


if __name__ == "__main__":
    print(Trainer(jnp.ones(3)).fit([jnp.ones((2, 3))] * 2))
