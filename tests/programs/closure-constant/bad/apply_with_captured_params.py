# source: jax-ml/jax#12719

import flax.linen as nn
import jax
import jax.numpy as jnp


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(3):
            x = nn.relu(nn.Dense(2048)(x))
        return nn.Dense(10)(x)


def make_predictor(model, params):
    @jax.jit
    def predict(x):
        return model.apply(params, x)  # finding

    return predict


def main():
    model = Mlp()
    params = model.init(jax.random.PRNGKey(0), jnp.ones((1, 784)))
    predict = make_predictor(model, params)
    print(predict(jnp.ones((4, 784))).shape)


main()
