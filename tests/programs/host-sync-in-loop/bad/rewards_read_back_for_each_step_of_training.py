# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def td_update(q, s, a, r, s2):
    target = r + 0.9 * jnp.max(q[s2], axis=-1)
    error = target - q[s, a]
    return q.at[s, a].add(0.1 * error), jnp.abs(error)


def learn(q, table, rounds):
    rng = np.random.default_rng(0)
    priorities = np.ones(len(table["s"]))
    for _ in range(rounds):
        idx = rng.integers(len(priorities), size=32)
        batch = {k: v[idx] for k, v in table.items()}
        q, error = td_update(q, batch["s"], batch["a"], batch["r"], batch["s2"])
        loss = error.mean().item()  # finding
        print(f"td {loss:.3f}")  # finding-also
    return q


n = 200
table = {k: np.random.default_rng(1).integers(0, 5, n) for k in ("s", "a", "s2")} | {"r": np.ones(n, np.float32)}
print(learn(jnp.zeros((5, 5)), table, 3).shape)
