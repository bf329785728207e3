# source: world-modelz/dreamax#14
# blind: ninth

import functools

import jax
import jax.numpy as jnp


class WorldModel:
    def __init__(self, lr):
        self.lr = lr
        self.last_norm = None

    def loss(self, params, obs):
        return jnp.mean((jnp.tanh(obs @ params["enc"]) @ params["dec"] - obs) ** 2)

    def _apply(self, params, grads):
        self.last_norm = jnp.sqrt(sum(jnp.sum(g**2) for g in grads.values()))  # finding
        return jax.tree.map(lambda p, g: p - self.lr * g, params, grads)

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
    def update(self, params, obs):
        return self._apply(params, jax.grad(self.loss)(params, obs))


def main():
    model = WorldModel(1e-2)
    params = {"enc": jnp.ones((4, 2)), "dec": jnp.ones((2, 4))}
    for _ in range(3):
        params = model.update(params, jnp.ones((8, 4)))
    return float(model.last_norm)


if __name__ == "__main__":
    print(main())
