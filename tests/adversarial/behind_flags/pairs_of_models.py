# flags: --drift
"""Equinox regression as a generator of models; --drift looks at how far each epoch moves."""

import itertools
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

optim = optax.sgd(0.05, momentum=0.9)


def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)


@eqx.filter_jit
def make_step(model, opt_state, x, y):
    value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
    updates, opt_state = optim.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, value


def fit(model, x, y, epochs, per_epoch=10):
    opt_state = optim.init(eqx.filter(model, eqx.is_array))
    yield model, None
    for _ in range(epochs):
        for _ in range(per_epoch):
            model, opt_state, value = make_step(model, opt_state, x, y)
        yield model, value


def distance(a, b):
    parts = jax.tree.map(
        lambda p, q: jnp.sum((p - q) ** 2), eqx.filter(a, eqx.is_array), eqx.filter(b, eqx.is_array)
    )
    return jnp.sqrt(sum(jax.tree.leaves(parts)))


def main(argv):
    key = jax.random.key(5)
    kx, km = jax.random.split(key)
    x = jax.random.uniform(kx, (512, 3), minval=-1.0, maxval=1.0)
    y = jnp.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2]
    model = eqx.nn.MLP(3, 1, 256, 3, key=km)
    if "--drift" in argv:
        for (old, _), (new, value) in itertools.pairwise(fit(model, x, y, epochs=6)):
            print(f"moved {float(distance(old, new)):.4f} to loss {float(value):.4f}")
    else:
        for model, value in fit(model, x, y, epochs=12):
            if value is not None:
                print(f"loss {float(value):.4f}")
        print("end", f"{float(loss(model, x, y)):.4f}")


if __name__ == "__main__":
    main(sys.argv[1:])
