import jax
import jax.numpy as jnp


def objective(params, key):
    noise = jax.random.normal(key, (16,))
    return jnp.mean((params + noise[: params.size]) ** 4)


value_and_grad = jax.jit(jax.value_and_grad(objective))


@jax.jit
def newton(params, key):
    value, grads = jax.value_and_grad(objective)(params, key)
    curvature = jax.hessian(objective)(params, key)
    return value, params - jnp.linalg.solve(curvature, grads)


def damped(params, key):
    hessian = jax.hessian(objective)
    value, grads = value_and_grad(params, key)
    curvature = hessian(params, key) + 0.1 * jnp.eye(params.size)
    return value, params - jnp.linalg.solve(curvature, grads)


def main():
    params = jnp.ones(3)
    first, second = jax.random.split(jax.random.key(0))
    _, halfway = newton(params, first)
    return damped(halfway, second)
