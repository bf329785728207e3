# source: jax-ml/jax#11928
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

HISTORY = []


def record(step, loss):
    HISTORY.append((int(step), float(loss)))
    return np.zeros((), np.float32)


def train_loop(w, xs):
    def body(carry, x):
        w, step = carry
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        jax.pure_callback(record, jax.ShapeDtypeStruct((), jnp.float32), step, loss)  # finding
        return (w - 0.1 * g, step + 1), None

    (w, _), _ = jax.lax.scan(body, (w, 0), xs)
    return w


if __name__ == "__main__":
    jax.jit(train_loop)(jnp.ones(2), jnp.ones((5, 3, 2))).block_until_ready()
    print(len(HISTORY))
