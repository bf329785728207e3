# source: jax-ml/jax#4714
# blind: ninth

import logging

import jax
import jax.numpy as jnp

log = logging.getLogger("fit")


def report(prefix, values):
    for name, value in values.items():
        log.info("%s/%s = %s", prefix, name, value)  # finding


@jax.jit
def kl_step(mean, logvar, target):
    def objective(m):
        return 0.5 * jnp.sum(jnp.exp(logvar) + (m - target) ** 2 - 1.0 - logvar)

    value, grad = jax.value_and_grad(objective)(mean)
    report("train", {"kl": value, "norm": jnp.linalg.norm(grad)})  # finding-also
    return mean - 0.1 * grad


def main():
    mean = jnp.zeros(4)
    for _ in range(5):
        mean = kl_step(mean, jnp.zeros(4), jnp.ones(4))
    return mean


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    print(main())
