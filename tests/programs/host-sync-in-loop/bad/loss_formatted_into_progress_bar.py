# source: openvdb/fvdb-reality-capture#144
# blind: eighth

import jax
import jax.numpy as jnp
from tqdm import trange


@jax.jit
def step(w, x, y):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * g, loss


def fit(w, x, y, iterations):
    bar = trange(iterations)
    for _ in bar:
        w, loss = step(w, x, y)
        bar.set_description(f"loss {loss:.4f}")  # finding
    return w


if __name__ == "__main__":
    print(fit(jnp.zeros(3), jnp.ones((8, 3)), jnp.ones(8), 5))
