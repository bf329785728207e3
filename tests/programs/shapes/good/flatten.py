import jax
import jax.numpy as jnp


def head(features, w):
    flat = features.reshape(features.shape[0], -1)
    return flat @ w


def patches(x, p):
    b, h, w, c = x.shape
    x = x.reshape(b, h // p, p, w // p, p, c)
    x = x.transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(b, (h // p) * (w // p), p * p * c)


print(head(jnp.ones((16, 7, 7, 64)), jnp.zeros((7 * 7 * 64, 10))).shape)
print(patches(jnp.ones((2, 32, 32, 3)), 4).shape)
