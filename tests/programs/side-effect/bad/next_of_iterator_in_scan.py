# source: jax-ml/jax#5642
# blind: first

import jax
import jax.numpy as jnp


def loader(n):
    for i in range(n):
        yield jnp.full((4, 2), float(i))


def train(w, n):
    stream = loader(n)

    def body(w, _):
        x = next(stream)  # finding
        g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * g, None

    w, _ = jax.lax.scan(body, w, None, length=n)
    return w


if __name__ == "__main__":
    print(train(jnp.ones(2), 5))
