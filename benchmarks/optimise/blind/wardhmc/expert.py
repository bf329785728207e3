"""Hamiltonian Monte Carlo for a hierarchical logistic regression.

Patients on different wards recover or not; wards share a prior. We sample the
posterior of the effects with a hand-written HMC sampler.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm


class WardModel:
    """Recovery ~ Bernoulli(logit = ward intercept + covariates @ beta)."""

    def __init__(self, covariates, ward, recovered):
        x = jnp.asarray(covariates)
        self.x = (x - x.mean(axis=0)) / x.std(axis=0)
        self.ward = jnp.asarray(ward)
        self.recovered = jnp.asarray(recovered)
        self.n_wards = int(ward.max()) + 1

    def initial(self):
        return {
            "mu": jnp.zeros(()),
            "log_tau": jnp.zeros(()),
            "offset": jnp.zeros(self.n_wards),
            "beta": jnp.zeros(self.x.shape[1]),
        }

    def log_density(self, q):
        prior = norm.logpdf(q["mu"], 0.0, 1.5) + norm.logpdf(q["log_tau"], -0.5, 0.5)
        prior += norm.logpdf(q["offset"]).sum() + norm.logpdf(q["beta"], 0.0, 1.0).sum()
        intercept = q["mu"] + jnp.exp(q["log_tau"]) * q["offset"]
        logits = intercept[self.ward] + self.x @ q["beta"]
        y = self.recovered
        likelihood = y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits)
        return prior + likelihood.sum()


class HMC:
    def __init__(self, model, step_size=0.12, n_leapfrog=5, seed=0):
        self.model = model
        self.step_size = step_size
        self.n_leapfrog = n_leapfrog
        self.key = jax.random.PRNGKey(seed)
        self.accepted = 0

    def kick(self, p, q, eps):
        grads = jax.grad(self.model.log_density)(q)
        return jax.tree.map(lambda a, g: a + eps * g, p, grads)

    def drift(self, q, p, eps):
        return jax.tree.map(lambda a, b: a + eps * b, q, p)

    def energy(self, q, p):
        kinetic = sum(0.5 * (leaf ** 2).sum() for leaf in jax.tree.leaves(p))
        return kinetic - self.model.log_density(q)

    def momentum(self, key, q):
        leaves, treedef = jax.tree.flatten(q)
        keys = jax.random.split(key, len(leaves))
        return jax.tree.unflatten(treedef, [jax.random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves)])

    def transition(self, carry, _):
        q, key = carry
        key, sub = jax.random.split(key)
        p = self.momentum(sub, q)
        before = self.energy(q, p)
        p = self.kick(p, q, 0.5 * self.step_size)

        def leapfrog(state, scale):
            q, p = state
            q = self.drift(q, p, self.step_size)
            return (q, self.kick(p, q, scale * self.step_size)), None

        scales = jnp.ones(self.n_leapfrog).at[-1].set(0.5)
        (q_new, p), _ = jax.lax.scan(leapfrog, (q, p), scales)
        log_ratio = before - self.energy(q_new, p)
        key, sub = jax.random.split(key)
        accept = jnp.log(jax.random.uniform(sub)) < log_ratio
        q = jax.tree.map(lambda new, old: jnp.where(accept, new, old), q_new, q)
        return (q, key), (q, accept)

    def run(self, n_samples, burn_in):
        chain = jax.jit(lambda q, key: jax.lax.scan(self.transition, (q, key), length=n_samples + burn_in))
        (_, self.key), (samples, accepted) = chain(self.model.initial(), self.key)
        self.accepted = int(accepted.sum())
        return jax.tree.map(lambda leaf: np.asarray(leaf)[burn_in:], samples)


def autocorrelation_time(chain, max_lag=20):
    """Integrated autocorrelation time of one scalar chain."""
    chain = chain - chain.mean()
    total = 1.0
    for lag in range(1, max_lag):
        rho = np.mean(chain[:-lag] * chain[lag:]) / np.mean(chain ** 2)
        if rho < 0.05:
            break
        total += 2 * float(rho)
    return total


def make_patients(n, n_wards, rng):
    covariates = rng.normal(size=(n, 3)) * np.array([12.0, 1.5, 4.0]) + np.array([60.0, 3.0, 20.0])
    ward = rng.integers(0, n_wards, n)
    effect = rng.normal(0.4, 0.7, n_wards)
    logits = effect[ward] + ((covariates - covariates.mean(0)) / covariates.std(0)) @ np.array([-0.9, 0.5, 0.0])
    return covariates, ward, (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(float)


def main():
    rng = np.random.default_rng(3)
    model = WardModel(*make_patients(600, 8, rng))
    sampler = HMC(model, seed=5)
    n_samples, burn_in = 60, 20
    samples = sampler.run(n_samples, burn_in)

    print(f"acceptance: {sampler.accepted / (n_samples + burn_in):.2f}")
    beta = samples["beta"]
    for j, name in enumerate(["age", "severity", "bmi"]):
        tau = max(autocorrelation_time(beta[:, j]), 1.0)
        print(f"{name}: {float(beta[:, j].mean()):.2f} +- {float(beta[:, j].std()):.2f} (act {tau:.1f})")
    print(f"spread of wards: {float(np.exp(samples['log_tau']).mean()):.2f}")
    logits = samples["mu"][:, None] + np.exp(samples["log_tau"])[:, None] * samples["offset"]
    per_ward = (1 / (1 + np.exp(-logits))).mean(axis=0)
    print("best ward:", int(per_ward.argmax()), f"{float(per_ward.max()):.2f}")


if __name__ == "__main__":
    main()
