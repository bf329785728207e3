# source: jax-ml/jax#9288
# blind: first

import jax
import jax.numpy as jnp


class Regressor:
    def __init__(self, key, width):
        self.params = {"w": jax.random.normal(key, (width, 1)), "b": jnp.zeros(1)}

    def forward(self, params, x):
        return x @ params["w"] + params["b"]

    def predict(self, x):
        return jax.jit(lambda p, v: self.forward(p, v))(self.params, x)  # finding


def evaluate(model, batches):
    return [model.predict(batch) for batch in batches]


if __name__ == "__main__":
    model = Regressor(jax.random.key(0), 4)
    print(len(evaluate(model, [jnp.ones((8, 4))] * 20)))
