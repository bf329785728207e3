# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


def block(params, x, causal):
    scores = (x @ params["q"]) @ (x @ params["k"]).T
    if causal:  # finding
        scores = jnp.where(jnp.tril(jnp.ones_like(scores)) > 0, scores, -1e9)
    return x + jax.nn.softmax(scores) @ (x @ params["v"])


class Stack:
    def __init__(self, depth, causal=True, remat=True):
        self.depth = depth
        self.causal = causal
        self.block = jax.checkpoint(block) if remat else block

    def __call__(self, params, x):
        for layer in params:
            x = self.block(layer, x, self.causal)
        return x


def main():
    params = [{k: jnp.eye(4) for k in "qkv"} for _ in range(2)]
    model = Stack(2)
    loss = lambda p: jnp.sum(model(p, jnp.ones((3, 4))) ** 2)
    print(jax.grad(loss)(params)[0]["q"])


main()
