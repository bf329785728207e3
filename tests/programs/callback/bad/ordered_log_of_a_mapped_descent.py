# source: jax-ml/jax#20628
# blind: eighteenth

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

LOG = []


def log_host(step, value):
    LOG.append((int(step), float(value)))


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def descend(x0, n_steps=5, lr=1e-4):
    def body(x, i):
        value, g = jax.value_and_grad(rosenbrock)(x)
        io_callback(log_host, None, i, value, ordered=True)  # finding
        return x - lr * g, value

    return jax.lax.scan(body, x0, jnp.arange(n_steps))


@jax.jit
def multistart(starts):
    finals, traces = jax.vmap(descend)(starts)  # finding-also
    best = jnp.argmin(traces[:, -1])
    return finals[best], traces[best]


def main():
    starts = jax.random.normal(jax.random.key(0), (4, 3))
    print(multistart(starts)[0])
    print(len(LOG))


if __name__ == "__main__":
    main()
