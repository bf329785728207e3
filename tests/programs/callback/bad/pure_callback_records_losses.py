# source: PennyLaneAI/catalyst#661

import jax
import jax.numpy as jnp
import numpy as np

history = []


def record(step, loss):
    history.append((int(step), float(loss)))
    return np.zeros((), np.float32)


def log(step, loss):
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    jax.pure_callback(record, shape, step, loss)  # finding


@jax.jit
def train(w, x, y):
    def body(w, step):
        loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
        log(step, loss)  # finding-also
        return w - 0.1 * grad, loss

    return jax.lax.scan(body, w, jnp.arange(20))


if __name__ == "__main__":
    train(jnp.zeros(3), jnp.ones((4, 3)), jnp.ones(4))
    print(len(history))
