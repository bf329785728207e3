# source: jax-ml/jax#9288
# blind: first

import jax
import jax.numpy as jnp


class Regressor:
    def __init__(self, key, width):
        self.params = {"w": jax.random.normal(key, (width, 1)), "b": jnp.zeros(1)}
        self._forward = jax.jit(lambda p, v: v @ p["w"] + p["b"])

    def predict(self, x):
        return self._forward(self.params, x)


if __name__ == "__main__":
    model = Regressor(jax.random.key(0), 4)
    print(len([model.predict(jnp.ones((8, 4))) for _ in range(20)]))
