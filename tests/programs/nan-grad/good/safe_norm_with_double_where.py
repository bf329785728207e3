# source: jax-ml/jax#3058
# blind: eighteenth

import jax
import jax.numpy as jnp


def safe_norm(x, axis=-1):
    sq = jnp.sum(x**2, axis=axis)
    is_zero = sq == 0.0
    return jnp.where(is_zero, 0.0, jnp.sqrt(jnp.where(is_zero, 1.0, sq)))


def heading(v):
    still = jnp.sum(v**2, axis=-1) == 0.0
    vx = jnp.where(still, 1.0, v[..., 0])
    return jnp.where(still, 0.0, jnp.arctan2(v[..., 1], vx))


def spring_energy(pos, pairs, rest, k=10.0):
    d = pos[pairs[:, 0]] - pos[pairs[:, 1]]
    return 0.5 * k * jnp.sum((safe_norm(d) - rest) ** 2)


def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0))


def objective(pos, vel, pairs):
    turn = jnp.sum(1.0 - jnp.cos(heading(vel)))
    weights = jax.nn.relu(pos[:, 0]) / (jax.nn.relu(pos[:, 0]).sum() + 1.0)
    return spring_energy(pos, pairs, 1.0) + 0.1 * turn + entropy(weights)


if __name__ == "__main__":
    p0 = jnp.zeros((3, 2)).at[2, 0].set(1.0)
    pairs = jnp.array([[0, 1], [1, 2]])
    g = jax.jit(jax.grad(objective, argnums=(0, 1)))(p0, jnp.zeros((3, 2)), pairs)
    assert all(bool(jnp.isfinite(a).all()) for a in g)
    print(g)
