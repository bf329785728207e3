# source: jax-ml/jax#5798
# blind: sixth

"""Shooting method: which launch velocity reaches the target."""
import jax
import jax.numpy as jnp


def acceleration(v, drag=0.1, gravity=9.81):
    speed = jnp.sqrt(v @ v)  # finding
    return jnp.array([0.0, -gravity]) - drag * speed * v


def fly(v0, steps=50, dt=0.02):
    def body(state, _):
        x, v = state
        v = v + dt * acceleration(v)
        return (x + dt * v, v), x

    (x, _), _ = jax.lax.scan(body, (jnp.zeros(2), v0), None, length=steps)
    return x


def miss(v0, target):
    return jnp.sum((fly(v0) - target) ** 2)


@jax.jit
def correct(v0, target):
    return v0 - 0.2 * jax.grad(miss)(v0, target)


if __name__ == "__main__":
    v0 = jnp.zeros(2)
    for _ in range(5):
        v0 = correct(v0, jnp.array([1.0, 0.0]))
    print(v0)
