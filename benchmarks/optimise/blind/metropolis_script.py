import jax
import jax.numpy as jnp


def logp(x):
    return -0.5 * jnp.sum(x**2)


key = jax.random.PRNGKey(0)
x = jnp.zeros(3)
accepted = 0
samples = []
step_size = 0.5
for i in range(200):
    key, k1, k2 = jax.random.split(key, 3)
    proposal = x + step_size * jax.random.normal(k1, x.shape)
    log_ratio = logp(proposal) - logp(x)
    accept = jnp.log(jax.random.uniform(k2)) < log_ratio
    x = jnp.where(accept, proposal, x)
    accepted += int(accept)
    samples.append(x)
print(accepted, float(jnp.mean(jnp.stack(samples))))
