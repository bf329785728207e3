# source: patrick-kidger/equinox#592
# blind: first
# missed: not found yet

import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_jit(donate="all")
def rollout(model, x):
    for _ in range(4):
        x = x + 0.1 * model(x)
    return x


def evaluate(model, starts):
    ends = []
    for x in starts:
        ends.append(rollout(model, x))  # finding
    return jnp.stack(ends)


if __name__ == "__main__":
    mlp = eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(0))
    print(evaluate(mlp, [jnp.ones(2), jnp.zeros(2)]))
