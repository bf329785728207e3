# source: google/flax#889
# blind: second

import functools

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def forward(params, images, labels):
    logits = images @ params
    return jnp.mean(logits.argmax(-1) == labels)


class Evaluator:
    def __init__(self, mesh):
        rows = NamedSharding(mesh, P("data"))
        self.step = jax.jit(forward, in_shardings=(NamedSharding(mesh, P()), rows, rows))

    def run(self, params, batches):
        scores = [self.step(params, images=x, labels=y) for x, y in batches]  # finding
        return functools.reduce(jnp.add, scores) / len(scores)


if __name__ == "__main__":
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    xs = jax.random.normal(jax.random.key(0), (3, 16, 4))
    print(Evaluator(mesh).run(jnp.eye(4), [(x, x.argmax(-1)) for x in xs]))
