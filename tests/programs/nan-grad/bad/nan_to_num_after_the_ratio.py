# source: jax-ml/jax#5798
# blind: sixth

"""Weighted pooling over segments, some of which are empty."""
import equinox as eqx
import jax
import jax.numpy as jnp


class Readout(eqx.Module):
    gate: eqx.nn.Linear
    out: eqx.nn.Linear

    def __init__(self, dim, key):
        k1, k2 = jax.random.split(key)
        self.gate = eqx.nn.Linear(dim, 1, key=k1)
        self.out = eqx.nn.Linear(dim, 1, key=k2)

    def __call__(self, nodes, segments, n):
        weight = jax.nn.sigmoid(jax.vmap(self.gate)(nodes))
        member = jax.nn.one_hot(segments, n, axis=0)
        total = member @ (weight * nodes)
        norm = member @ weight
        pooled = jnp.nan_to_num(total / norm)  # finding
        return jax.vmap(self.out)(pooled)[:, 0]


@eqx.filter_value_and_grad
def loss(model, nodes, segments, targets):
    return jnp.mean((model(nodes, segments, targets.shape[0]) - targets) ** 2)


def main():
    model = Readout(4, jax.random.key(0))
    segments = jnp.array([0, 0, 2])
    value, grads = eqx.filter_jit(loss)(model, jnp.ones((3, 4)), segments, jnp.zeros(3))
    print(value, grads.gate.weight)


if __name__ == "__main__":
    main()
