import jax
import jax.numpy as jnp
import numpy as np


class MALA:
    """Metropolis-adjusted Langevin sampling of a log density."""

    def __init__(self, log_density, step_size):
        self.log_density = log_density
        self.grad = jax.grad(log_density)
        self.step_size = step_size
        self.accepted = 0
        self.proposed = 0

    def log_proposal(self, to, start):
        mean = start + self.step_size * self.grad(start)
        return -jnp.sum((to - mean) ** 2) / (4 * self.step_size)

    def step(self, key, x):
        noise_key, accept_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, x.shape)
        proposal = x + self.step_size * self.grad(x) + jnp.sqrt(2 * self.step_size) * noise
        log_ratio = (
            self.log_density(proposal)
            - self.log_density(x)
            + self.log_proposal(x, proposal)
            - self.log_proposal(proposal, x)
        )
        self.proposed += 1
        if jnp.log(jax.random.uniform(accept_key)) < log_ratio:
            self.accepted += 1
            return proposal
        return x

    def run(self, key, x0, n):
        x = x0
        chain = []
        for sub in jax.random.split(key, n):
            x = self.step(sub, x)
            chain.append(np.asarray(x))
        return np.stack(chain)


def main():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 4))
    truth = np.array([1.0, -0.5, 0.25, 0.0])
    labels = (rng.uniform(size=200) < 1 / (1 + np.exp(-features @ truth))).astype(np.float32)

    def log_density(w):
        logits = jnp.dot(features, w)
        return jnp.sum(labels * logits - jnp.logaddexp(0.0, logits)) - 0.5 * jnp.sum(w**2)

    sampler = MALA(log_density, 0.01)
    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    means = []
    for c, key in enumerate(keys):
        init_key, run_key = jax.random.split(key)
        chain = sampler.run(run_key, 0.1 * jax.random.normal(init_key, (4,)), 60)
        means.append(chain[20:].mean(axis=0))
        print(f"chain {c}: mean {means[-1][0]:.3f} {means[-1][1]:.3f} accepted {sampler.accepted / sampler.proposed:.3f}")


if __name__ == "__main__":
    main()
