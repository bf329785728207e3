import jax
import jax.numpy as jnp


@jax.jit
def condition(a):
    return jnp.linalg.norm(a, 2) / jnp.linalg.norm(a, -2)


def main():
    for size in range(2, 40):
        a = jnp.eye(size) + 0.1
        print(f"{size:4d} {condition(a):.3e}")


main()
