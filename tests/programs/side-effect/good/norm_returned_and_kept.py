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

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
    def _update(self, params, obs):
        grads = jax.grad(self.loss)(params, obs)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in grads.values()))
        return jax.tree.map(lambda p, g: p - self.lr * g, params, grads), norm

    def update(self, params, obs):
        params, self.last_norm = self._update(params, obs)
        return params


def main():
    model = WorldModel(1e-2)
    params = {"enc": jnp.ones((4, 2)), "dec": jnp.ones((2, 4))}
    for _ in range(3):
        params = model.update(params, jnp.ones((8, 4)))
    return float(model.last_norm)


if __name__ == "__main__":
    print(main())
