# source: jax-ml/jax#7949
# blind: fifth

import jax
import jax.numpy as jnp


@jax.jit
def residuals(pose, points, pixels):
    c, s = jnp.cos(pose[0]), jnp.sin(pose[0])
    rot = jnp.array([[c, -s], [s, c]])
    return ((points @ rot.T + pose[1:]) - pixels).ravel()


def gauss_newton(pose, points, pixels, n_iter=10, damping=1e-6):
    jacobian = jax.jacfwd(residuals)  # finding
    for _ in range(n_iter):
        r = residuals(pose, points, pixels)
        J = jacobian(pose, points, pixels)  # finding-also
        H = J.T @ J + damping * jnp.eye(pose.size)
        pose = pose - jnp.linalg.solve(H, J.T @ r)
    return pose


if __name__ == "__main__":
    points = jax.random.normal(jax.random.key(0), (20, 2))
    print(gauss_newton(jnp.zeros(3), points, points + 0.3))
