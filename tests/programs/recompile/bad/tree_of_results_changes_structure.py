# source: jax-ml/jax#15761
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def score(features):
    return sum(jnp.tanh(v).sum() for v in features.values())


def forward_selection(columns, target_size):
    chosen, remaining = {}, dict(columns)
    while len(chosen) < target_size:
        best = None
        for name, column in remaining.items():
            value = score({**chosen, name: column})  # finding
            if best is None or value > best[0]:  # finding-also
                best = (value, name)
        chosen[best[1]] = remaining.pop(best[1])
    return list(chosen)


if __name__ == "__main__":
    columns = {f"c{i}": i * jnp.ones(10) for i in range(6)}
    print(forward_selection(columns, 3))
