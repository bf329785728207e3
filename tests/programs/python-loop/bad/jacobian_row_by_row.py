# source: jax-ml/jax#4300

import jax
import jax.numpy as jnp


def kinematics(q):
    angles = jnp.cumsum(q)
    return jnp.concatenate([jnp.cumsum(jnp.cos(angles)), jnp.cumsum(jnp.sin(angles))])


def jacobian(fn, q):
    n_out = fn(q).shape[0]
    rows = []
    for i in range(n_out):
        rows.append(jax.grad(lambda q: fn(q)[i])(q))  # finding
    return jnp.stack(rows)


def inverse_kinematics(target, q, n_iter=3, damping=1e-2):
    for _ in range(n_iter):
        J = jacobian(kinematics, q)
        err = target - kinematics(q)
        q = q + J.T @ jnp.linalg.solve(J @ J.T + damping * jnp.eye(len(err)), err)
    return q


if __name__ == "__main__":
    print(inverse_kinematics(jnp.linspace(0, 1, 12), jnp.ones(6) * 0.1))
