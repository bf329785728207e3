# blind: fifth

import jax
import jax.numpy as jnp


def encode(stack, x):
    def layer(h, w):
        return h + jnp.tanh(h @ w), None

    return jax.lax.scan(layer, x, stack)[0]


def decode(weights, h):
    for w in weights:
        h = jax.nn.gelu(h @ w)
    return h


def loss_fn(params, x, y):
    # the decoder's backward pass runs first: until then nothing of the encoder is kept
    h = jax.checkpoint(encode)(params["encoder"], x)
    return jnp.mean((decode(params["decoder"], h) - y) ** 2)


grads = jax.jit(jax.grad(loss_fn))


if __name__ == "__main__":
    params = {"encoder": jnp.ones((4, 8, 8)) * 0.01, "decoder": [jnp.eye(8), jnp.eye(8)]}
    print(grads(params, jnp.ones((2, 8)), jnp.zeros((2, 8)))["encoder"].shape)
