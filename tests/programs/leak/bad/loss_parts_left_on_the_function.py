# source: patrick-kidger/equinox#997
# blind: second

import jax
import jax.numpy as jnp


def data_term(params, batch):
    x, y = batch
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def penalty(params):
    return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))


def total_loss(params, batch, weight=1e-3):
    parts = {"data": data_term(params, batch), "l2": weight * penalty(params)}
    total_loss.parts = parts  # finding
    return sum(parts.values())


@jax.jit
def step(params, batch):
    grads = jax.grad(total_loss)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def describe(parts):
    return ", ".join(f"{name}={float(value):.3f}" for name, value in parts.items())


def main():
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    x = jax.random.normal(jax.random.key(0), (16, 3))
    for epoch in range(3):
        params = step(params, (x, x.sum(1)))
        print(epoch, describe(total_loss.parts))  # finding-also


if __name__ == "__main__":
    main()
