# source: jax-ml/jax#11743
# blind: first

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp


@partial(jax.checkpoint, static_argnums=(2,))
def block(w, x, train):
    h = jax.nn.gelu(x @ w)
    return x + (h * 0.9 if train else h)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic: bool):
        h = nn.Dense(x.shape[-1])(x)
        return x + (h if deterministic else 0.9 * h)


class Stack(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic: bool):
        for _ in range(2):
            x = nn.remat(Block, static_argnums=(2,))()(x, deterministic)
        return x


@jax.jit
def grads(ws, x):
    def loss(ws):
        h = x
        for w in (ws[0], ws[1]):
            h = block(w, h, True)
        return jnp.mean(h**2)

    return jax.grad(loss)(ws)


if __name__ == "__main__":
    x = jnp.ones((2, 3))
    print(grads(jnp.ones((2, 3, 3)), x).shape)
    print(Stack().init_with_output(jax.random.key(0), x, True)[0].shape)
