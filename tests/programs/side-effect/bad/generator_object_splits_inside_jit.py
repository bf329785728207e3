# source: google/objax#147
# blind: third

import jax
import jax.numpy as jnp


class Generator:
    def __init__(self, seed=0):
        self.key = jax.random.key(seed)

    def __call__(self):
        self.key, sub = jax.random.split(self.key)  # finding
        return sub


DEFAULT = Generator()


def linear(n_in, n_out):
    return {"w": jax.random.normal(DEFAULT(), (n_in, n_out)), "b": jnp.zeros(n_out)}


def apply(layer, x):
    return x @ layer["w"] + layer["b"]


@jax.jit
def noisy_predict(layer, x):
    logits = apply(layer, x)
    return logits + jax.random.normal(DEFAULT(), logits.shape)  # finding-also


if __name__ == "__main__":
    model = linear(3, 2)
    print(noisy_predict(model, jnp.ones((1, 3))))
    print(linear(2, 2))
