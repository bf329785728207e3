# source: apple/axlearn#1171
# blind: first

import jax
import jax.numpy as jnp


def layer(x, w):
    return x + jnp.tanh(x @ w), None


@jax.checkpoint  # finding
def forward(ws, x):
    return jax.lax.scan(layer, x, ws)[0]  # finding-also


@jax.jit
def grads(ws, x):
    return jax.grad(lambda ws: jnp.mean(forward(ws, x) ** 2))(ws)


if __name__ == "__main__":
    print(grads(jnp.ones((24, 64, 64)) / 64, jnp.ones((8, 64))).shape)
