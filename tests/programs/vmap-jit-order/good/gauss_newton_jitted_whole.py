# blind: fifth

import jax
import jax.numpy as jnp


@jax.jit
def residuals(pose, points, pixels):
    c, s = jnp.cos(pose[0]), jnp.sin(pose[0])
    rot = jnp.array([[c, -s], [s, c]])
    return ((points @ rot.T + pose[1:]) - pixels).ravel()


@jax.jit
def gauss_newton(pose, points, pixels):
    jacobian = jax.jacfwd(residuals)

    def step(_, pose):
        r = residuals(pose, points, pixels)
        J = jacobian(pose, points, pixels)
        H = J.T @ J + 1e-6 * jnp.eye(pose.size)
        return pose - jnp.linalg.solve(H, J.T @ r)

    return jax.lax.fori_loop(0, 10, step, pose)


if __name__ == "__main__":
    points = jax.random.normal(jax.random.key(0), (20, 2))
    pose = gauss_newton(jnp.zeros(3), points, points + 0.3)
    print(pose, jnp.linalg.norm(residuals(pose, points, points + 0.3)))
