# source: jax-ml/jax#5642
# blind: first

import jax
import jax.numpy as jnp


def dense(x, w, taps=[]):
    y = jnp.tanh(x @ w)
    taps.append(y)  # finding
    return y


@jax.jit
def forward(weights, x):
    for w in weights:
        x = dense(x, w)
    return x


def activations(weights, x):
    forward(weights, x)
    return [t.mean() for t in dense.__defaults__[0]]


if __name__ == "__main__":
    print(activations([jnp.eye(3)] * 2, jnp.ones((1, 3))))
