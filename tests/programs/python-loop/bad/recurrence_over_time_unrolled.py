# source: google/flax#4700
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp


class Encoder(eqx.Module):
    cell: eqx.nn.GRUCell
    readout: eqx.nn.Linear
    hidden: int = eqx.field(static=True)

    def __init__(self, inputs, hidden, *, key):
        cell_key, out_key = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(inputs, hidden, key=cell_key)
        self.readout = eqx.nn.Linear(hidden, 1, key=out_key)
        self.hidden = hidden

    def __call__(self, sequence):
        h = jnp.zeros(self.hidden)
        outputs = []
        for t in range(sequence.shape[0]):  # finding
            h = self.cell(sequence[t], h)
            outputs.append(self.readout(h)[0])
        return jnp.stack(outputs)


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
