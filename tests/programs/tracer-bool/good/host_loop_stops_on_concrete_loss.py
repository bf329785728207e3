# source: google/jaxopt#77
# blind: sixth

"""The decision is on the host, where values are known."""
import jax
import jax.numpy as jnp


@jax.jit  # finding-other
def step(x):
    value, grad = jax.value_and_grad(lambda x: jnp.sum((x - 1.0) ** 2))(x)
    return x - 0.1 * grad, value


def minimise(x, tol=1e-4, maxiter=100):
    previous = jnp.inf
    for i in range(maxiter):
        x, value = step(x)
        if abs(previous - value) < tol:  # finding-other
            break
        previous = value
    return x, i


if __name__ == "__main__":
    print(minimise(jnp.zeros(3)))
