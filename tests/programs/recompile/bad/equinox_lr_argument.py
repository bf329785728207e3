# source: LouisDesdoigts/dLux#187
# blind: nineteenth

import time

import jax
import jax.numpy as jnp
import equinox as eqx


class NeuralField(eqx.Module):
    mlp: eqx.nn.MLP
    freqs: jax.Array

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.mlp = eqx.nn.MLP(32, 1, 64, 2, key=k1)
        self.freqs = jax.random.normal(k2, (2, 16)) * 2.0

    def __call__(self, x):
        phase = x @ self.freqs
        return self.mlp(jnp.concatenate([jnp.sin(phase), jnp.cos(phase)]))[0]


def loss_fn(model, coords, target):
    return jnp.mean((jax.vmap(model)(coords) - target) ** 2)


@eqx.filter_jit  # finding-also
def sgd_step(model, velocity, coords, target, lr, momentum):  # finding-also
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, coords, target)
    velocity = jax.tree.map(lambda v, g: momentum * v - lr * g, velocity, grads)
    return eqx.apply_updates(model, velocity), velocity, loss


def cosine(step, total, peak):
    return 0.5 * peak * (1.0 + float(jnp.cos(jnp.pi * step / total)))


def main():
    k_model, k_x = jax.random.split(jax.random.key(0))
    model = NeuralField(k_model)
    velocity = jax.tree.map(jnp.zeros_like, eqx.filter(model, eqx.is_inexact_array))
    coords = jax.random.uniform(k_x, (256, 2), minval=-1.0, maxval=1.0)
    target = jnp.sin(3.0 * coords[:, 0]) * coords[:, 1]
    start = time.perf_counter()
    for step in range(8):
        lr = cosine(step, 8, 0.05)  # finding-also
        model, velocity, loss = sgd_step(model, velocity, coords, target, lr, 0.9)  # finding
    print("loss", float(loss), "seconds", round(time.perf_counter() - start, 2))


if __name__ == "__main__":
    main()
