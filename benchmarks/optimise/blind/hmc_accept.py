import jax
import jax.numpy as jnp
import numpy as np

data = np.random.default_rng(0).normal(1.5, 1.0, size=100)


def potential(q):
    mu, log_sigma = q[0], q[1]
    sigma = jnp.exp(log_sigma)
    return jnp.sum(0.5 * ((data - mu) / sigma) ** 2) + len(data) * log_sigma + 0.5 * mu**2 + 0.5 * log_sigma**2


grad_u = jax.grad(potential)


def leapfrog(q, p, eps, steps):
    p = p - 0.5 * eps * grad_u(q)
    for _ in range(steps - 1):
        q = q + eps * p
        p = p - eps * grad_u(q)
    q = q + eps * p
    p = p - 0.5 * eps * grad_u(q)
    return q, -p


def sample(key, q, n, eps=0.05, steps=8):
    chain = []
    n_accept = 0
    for i in range(n):
        key, k1, k2 = jax.random.split(key, 3)
        p = jax.random.normal(k1, q.shape)
        q_new, p_new = leapfrog(q, p, eps, steps)
        h_old = potential(q) + 0.5 * jnp.sum(p**2)
        h_new = potential(q_new) + 0.5 * jnp.sum(p_new**2)
        u = jax.random.uniform(k2)
        if jnp.log(u) < h_old - h_new:
            q = q_new
            n_accept += 1
        chain.append(np.asarray(q))
    return np.stack(chain), n_accept / n


chain, rate = sample(jax.random.PRNGKey(1), jnp.zeros(2), 60)
print(chain.mean(0), rate)
