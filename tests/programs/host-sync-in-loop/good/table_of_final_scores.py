# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit
def score(w, rows):
    return jax.vmap(lambda r: jnp.tanh(r @ w))(rows)


def report(w, groups):
    print("group   mean   worst")
    for name, rows in groups.items():
        s = score(w, rows)
        print(f"{name:8s}{float(s.mean()):.3f}  {float(s.min()):.3f}")


report(jnp.ones(3), {"train": jnp.ones((4, 3)), "test": jnp.zeros((2, 3))})
