# source: jax-ml/jax#18405
# blind: fourth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.checkpoint, static_argnums=(2,))
def layer(params, x, causal):
    scores = (x @ params["q"]) @ (x @ params["k"]).T
    if causal:
        n = x.shape[0]
        scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e9)
    return jax.nn.softmax(scores) @ (x @ params["v"])


class Decoder:
    def __init__(self, key, dim, depth):
        keys = jax.random.split(key, (depth, 3))
        self.params = [
            {name: 0.1 * jax.random.normal(k, (dim, dim)) for name, k in zip("qkv", layer_keys)}
            for layer_keys in keys
        ]

    def forward(self, params, x):
        for p in params:
            x = x + layer(p, x, causal=True)  # finding
        return x

    def gradients(self, x):
        return jax.grad(lambda p: self.forward(p, x).sum())(self.params)


if __name__ == "__main__":
    decoder = Decoder(jax.random.key(0), 16, 2)
    print(jax.tree.map(jnp.shape, decoder.gradients(jnp.ones((8, 16)))))
