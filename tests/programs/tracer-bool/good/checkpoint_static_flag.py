# source: jax-ml/jax#16430

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.checkpoint, static_argnums=(2,))
def block(params, x, causal):
    scores = (x @ params["q"]) @ (x @ params["k"]).T
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones_like(scores)) > 0, scores, -1e9)
    return x + jax.nn.softmax(scores) @ (x @ params["v"])


def apply(params, x, causal=True):
    for i, layer in enumerate(params):
        x = block(layer, x, causal and i % 2 == 0)
    return x


params = [{k: jnp.eye(4) for k in "qkv"} for _ in range(2)]
print(jax.grad(lambda p: jnp.sum(apply(p, jnp.ones((3, 4))) ** 2))(params)[0]["q"])
