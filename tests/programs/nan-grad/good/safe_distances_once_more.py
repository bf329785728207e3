# blind: twenty-first

import functools

import jax
import jax.numpy as jnp


def safe_distance(diff):
    squared = jnp.sum(diff ** 2, axis=-1)
    apart = squared > 0.0
    root = jnp.sqrt(jnp.where(apart, squared, 1.0))
    return jnp.where(apart, root, 0.0)


def stress(points, target):
    dist = safe_distance(points[:, None, :] - points[None, :, :])
    return 0.5 * jnp.sum((dist - target) ** 2) / points.shape[0]


@functools.partial(jax.jit, static_argnames=("steps",))
def embed(key, target, steps=400, lr=0.05):
    start = jax.random.normal(key, (target.shape[0], 2))

    def body(carry, _):
        points, momentum = carry
        value, grads = jax.value_and_grad(stress)(points, target)
        momentum = 0.9 * momentum + grads
        return (points - lr * momentum, momentum), value

    (points, _), values = jax.lax.scan(
        body, (start, jnp.zeros_like(start)), None, length=steps)
    return points, values


def main():
    angle = jnp.linspace(0.0, 2 * jnp.pi, 13)[:-1]
    circle = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    target = safe_distance(circle[:, None, :] - circle[None, :, :])
    points, values = embed(jax.random.key(1), target)
    gradient_at_same_point = jax.grad(stress)(jnp.zeros((12, 2)), target)
    print("stress", float(values[0]), "->", float(values[-1]))
    assert bool(jnp.isfinite(gradient_at_same_point).all())
    assert float(values[-1]) < 0.05 * float(values[0])


if __name__ == "__main__":
    main()
