# blind: ninth

import jax
import jax.numpy as jnp


@jax.jit
def loss(params, x, y):
    return (jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2


class PrivateSGD:
    def __init__(self, clip, noise):
        self.clip, self.noise = clip, noise

    def gradients(self, params, xs, ys):
        return jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, xs, ys)  # finding

    def step(self, key, params, xs, ys):
        grads = self.gradients(params, xs, ys)
        clipped = jax.tree.map(lambda g: jnp.clip(g, -self.clip, self.clip).mean(0), grads)
        keys = jax.random.split(key, 2)
        noisy = {k: g + self.noise * jax.random.normal(key, g.shape) for (k, g), key in zip(clipped.items(), keys)}
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, noisy)


def train(params, xs, ys, steps):
    optimiser, key = PrivateSGD(1.0, 0.01), jax.random.key(0)
    for i in range(steps):
        params = optimiser.step(jax.random.fold_in(key, i), params, xs, ys)
    return params


if __name__ == "__main__":
    params = {"w": jnp.ones((3, 8)), "v": jnp.ones(8)}
    print(train(params, jnp.ones((16, 3)), jnp.zeros(16), 20)["v"][:2])
