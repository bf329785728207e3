# source: AakashKumarNain/TF_JAX_tutorials#4
# blind: twenty-first

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Target:
    mean: float = 1.0
    scale: float = 2.0

    def energy(self, x):
        return 0.5 * jnp.sum(((x - self.mean) / self.scale) ** 2)

    def score(self, x):
        return -jax.grad(self.energy)(x)


def langevin(key, target, x0, step_size, num_steps):
    def body(i, carry):
        x, total, total_sq, count = carry
        noise = jax.random.normal(key, x.shape)  # finding
        x = x + step_size * target.score(x) + jnp.sqrt(2 * step_size) * noise
        keep = (i >= num_steps // 2).astype(x.dtype)
        return x, total + keep * x, total_sq + keep * x ** 2, count + keep

    zeros = jnp.zeros_like(x0)
    init = (x0, zeros, zeros, jnp.zeros(()))
    x, total, total_sq, count = jax.lax.fori_loop(0, num_steps, body, init)  # finding-also
    mean = total / count
    return mean, total_sq / count - mean ** 2


def run_chains(key, target, num_chains, dim):
    keys = jax.random.split(key, num_chains)
    start = jnp.zeros((num_chains, dim))
    sampler = lambda k, x: langevin(k, target, x, 0.1, 4000)
    return jax.vmap(sampler)(keys, start)


def main():
    target = Target()
    mean, var = jax.jit(lambda k: run_chains(k, target, 4, 3))(jax.random.key(0))
    print("chain means", mean)
    print("average variance", float(var.mean()), "target", target.scale ** 2)


if __name__ == "__main__":
    main()
