# blind: ninth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Denoiser(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 32, rngs=rngs)
        self.second = nnx.Linear(32, 4, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.relu(self.first(x)))


def loss_fn(model, x):
    rngs = nnx.Rngs(noise=0)  # finding-also
    noise = jax.random.normal(rngs.noise(), x.shape)  # finding
    return jnp.mean((model(x + 0.1 * noise) - noise) ** 2)


@nnx.jit(donate_argnums=(0, 1))
def step(model, optimizer, x):
    grads = nnx.grad(loss_fn)(model, x)
    optimizer.update(model, grads)


def main():
    model = Denoiser(nnx.Rngs(1))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for _ in range(10):
        step(model, optimizer, jnp.ones((8, 4)))
    return model


if __name__ == "__main__":
    print(main()(jnp.ones((1, 4))))
