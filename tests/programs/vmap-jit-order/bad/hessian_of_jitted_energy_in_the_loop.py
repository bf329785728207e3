# source: jax-ml/jax#25703
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def energy(x):
    r2 = jnp.sum((x[:, None] - x[None, :]) ** 2, -1) + jnp.eye(x.shape[0])
    return jnp.sum(1.0 / r2)


force = jax.grad(energy)  # finding-also


def minimise(x, steps, lr=1e-3):
    for _ in range(steps):
        x = x - lr * force(x)  # finding
    return x


if __name__ == "__main__":
    print(minimise(jax.random.normal(jax.random.key(0), (5, 3)), 10))
