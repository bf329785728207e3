# blind: twentieth

"""MLP whose layout is a static argument read from a plain dictionary."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import optax

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "gelu": jax.nn.gelu}
SETTINGS = {"features": 4, "hidden": [64, 64], "activation": "gelu", "skip": [1]}


@dataclass(frozen=True)
class Layout:
    features: int
    hidden: tuple[int, ...]
    activation: str
    skip: frozenset[int]

    @classmethod
    def from_dict(cls, raw):
        return cls(
            features=raw["features"],
            hidden=tuple(raw["hidden"]),
            activation=raw["activation"],
            skip=frozenset(raw["skip"]),
        )


def init_params(key, layout):
    sizes = [layout.features, *layout.hidden, 1]
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)) * (2.0 / i) ** 0.5, "b": jnp.zeros(o)}
        for k, i, o in zip(keys, sizes[:-1], sizes[1:])
    ]


@partial(jax.jit, static_argnames="layout")
def predict(params, x, layout):
    act = ACTIVATIONS[layout.activation]
    for i, layer in enumerate(params[:-1]):
        h = act(x @ layer["w"] + layer["b"])
        x = x + h if i in layout.skip else h
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


def loss_fn(params, x, y, layout):
    return jnp.mean((predict(params, x, layout) - y) ** 2)


def train(params, x, y, layout, steps=100):
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y, layout)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, x, y)
    return params, loss


def main():
    layout = Layout.from_dict(SETTINGS)
    k_params, k_x = jax.random.split(jax.random.key(0))
    params = init_params(k_params, layout)
    x = jax.random.normal(k_x, (256, layout.features))
    params, loss = train(params, x, jnp.sin(x).sum(axis=1), layout)
    again = predict(params, x, Layout.from_dict(SETTINGS))
    print("loss", float(loss), "predictions", again.shape)


if __name__ == "__main__":
    main()
