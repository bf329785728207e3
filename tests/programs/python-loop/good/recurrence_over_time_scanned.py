# source: google/flax#4700
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp


class Encoder(eqx.Module):
    cells: list
    readout: eqx.nn.Linear
    hidden: int = eqx.field(static=True)

    def __init__(self, inputs, hidden, depth=2, *, key):
        *cell_keys, out_key = jax.random.split(key, depth + 1)
        sizes = [inputs] + [hidden] * (depth - 1)
        self.cells = [
            eqx.nn.GRUCell(size, hidden, key=k) for size, k in zip(sizes, cell_keys, strict=True)
        ]
        self.readout = eqx.nn.Linear(hidden, 1, key=out_key)
        self.hidden = hidden

    def __call__(self, sequence):
        for cell in self.cells:
            def step(h, x, cell=cell):
                h = cell(x, h)
                return h, h

            _, sequence = jax.lax.scan(step, jnp.zeros(self.hidden), sequence)
        return jax.vmap(self.readout)(sequence)[:, 0]


@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(model, xs, ys):
    return jnp.mean((jax.vmap(model)(xs) - ys) ** 2)


def main():
    model = Encoder(3, 16, key=jax.random.key(0))
    xs = jax.random.normal(jax.random.key(1), (4, 60, 3))
    value, _ = loss(model, xs, xs[..., 0].cumsum(axis=1))
    print(value)


if __name__ == "__main__":
    main()
