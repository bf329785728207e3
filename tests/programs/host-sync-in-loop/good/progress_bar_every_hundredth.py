# source: patrick-kidger/equinox#161
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Bar:
    """Prints a line with the fields given to it."""

    def __init__(self, iterable):
        self.iterable = iterable
        self.fields = {}

    def __iter__(self):
        yield from self.iterable

    def set_postfix(self, **fields):
        self.fields.update(fields)


@eqx.filter_jit  # finding-other
def step(model, state, x, y, tx):
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, state = tx.update(grads, state)
    return eqx.apply_updates(model, updates), state, {"loss": loss, "norm": optax.global_norm(grads)}


def fit(model, batches, tx, every=100):
    state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    bar = Bar(batches)
    history = []
    for number, (x, y) in enumerate(bar):
        model, state, metrics = step(model, state, x, y, tx)
        history.append(metrics)
        if number % every == 0:
            bar.set_postfix(**{name: float(value) for name, value in metrics.items()})
    return model, jax.device_get(history)


def main():
    key = jax.random.key(0)
    model = eqx.nn.MLP(4, 1, 16, 1, key=key)
    xs = jax.random.normal(key, (6, 8, 4))  # finding-other
    fit(model, [(x, x.sum(1)) for x in xs], optax.sgd(1e-2))


if __name__ == "__main__":
    main()
