# blind: nineteenth

import jax
import jax.numpy as jnp
import equinox as eqx
import numpy as np


class Field(eqx.Module):
    mlp: eqx.nn.MLP
    freqs: jax.Array

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.mlp = eqx.nn.MLP(16, 1, 32, 1, key=k1)
        self.freqs = jax.random.normal(k2, (2, 8))

    def __call__(self, x):
        phase = x @ jax.lax.stop_gradient(self.freqs)
        return self.mlp(jnp.concatenate([jnp.sin(phase), jnp.cos(phase)]))[0]


@eqx.filter_jit  # finding-other
def sgd_step(model, coords, target, lr):
    loss, grads = eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(coords) - target) ** 2))(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -lr * g, grads)), loss


def main():
    k_m, k_x = jax.random.split(jax.random.key(0))
    model = Field(k_m)
    coords = jax.random.uniform(k_x, (128, 2), minval=-1.0, maxval=1.0)
    target = jnp.sin(2.0 * coords[:, 0])
    schedule = 0.1 * (1.0 + np.cos(np.linspace(0.0, np.pi, 200)))
    for lr in schedule.tolist():
        model, loss = sgd_step(model, coords, target, jnp.float32(lr))
    print("loss", float(loss))


if __name__ == "__main__":
    main()
