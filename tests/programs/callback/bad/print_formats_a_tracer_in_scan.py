# source: jax-ml/jax#11770
# blind: sixth

"""Diagnostics of a leapfrog integrator."""
import jax
import jax.numpy as jnp


def leapfrog(grad_u, q, p, eps):
    p = p - 0.5 * eps * grad_u(q)
    q = q + eps * p
    return q, p - 0.5 * eps * grad_u(q)


def trajectory(potential, q, p, eps, steps):
    grad_u = jax.grad(potential)

    def body(state, i):
        q, p = leapfrog(grad_u, *state, eps)
        energy = potential(q) + 0.5 * jnp.sum(p**2)
        jax.debug.print("step {i}: energy {:.4f}".format(i, energy))  # finding
        return (q, p), energy

    return jax.lax.scan(body, (q, p), jnp.arange(steps))


if __name__ == "__main__":
    run = jax.jit(trajectory, static_argnums=(0, 4))
    print(run(lambda q: 0.5 * jnp.sum(q**2), jnp.ones(2), jnp.zeros(2), 0.1, 5)[1])
