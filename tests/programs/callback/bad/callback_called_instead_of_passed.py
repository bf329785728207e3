# source: jax-ml/jax#15545
# blind: sixth

"""Progress of a scan shown on the host."""
import functools

import jax
import jax.numpy as jnp


def show(step, loss):
    print(f"step {int(step):4d} loss {float(loss):.4f}")


def body(w, i):
    loss, grad = jax.value_and_grad(lambda w: jnp.sum((w - 1.0) ** 2))(w)
    jax.debug.callback(show(i, loss))  # finding
    return w - 0.1 * grad, loss


@functools.partial(jax.jit, static_argnames="steps")
def train(w, steps):
    return jax.lax.scan(body, w, jnp.arange(steps))


if __name__ == "__main__":
    print(train(jnp.zeros(3), 5)[0])
