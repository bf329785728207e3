# source: patrick-kidger/equinox#11

import equinox as eqx
import jax
import jax.numpy as jnp


class Recurrent(eqx.Module):
    weight: jax.Array
    steps: int

    def __call__(self, x):
        for _ in range(self.steps):  # finding
            x = jnp.tanh(self.weight @ x)
        return x


@jax.jit
def loss(model, batch):
    out = jax.vmap(model)(batch)
    return jnp.mean(out**2)


def train(model, batch, rate=0.1):
    value = loss(model, batch)
    return value * rate


if __name__ == "__main__":
    print(train(Recurrent(0.5 * jnp.eye(3), 4), jnp.ones((5, 3))))
