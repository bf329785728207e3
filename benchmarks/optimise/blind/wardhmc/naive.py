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
        self.covariates = covariates
        self.ward = ward
        self.recovered = recovered
        self.n_wards = int(ward.max()) + 1

    def initial(self):
        return {
            "mu": jnp.zeros(()),
            "log_tau": jnp.zeros(()),
            "offset": jnp.zeros(self.n_wards),
            "beta": jnp.zeros(self.covariates.shape[1]),
        }

    def log_density(self, q):
        x = jnp.asarray(self.covariates)
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        prior = norm.logpdf(q["mu"], 0.0, 1.5) + norm.logpdf(q["log_tau"], -0.5, 0.5)
        prior += norm.logpdf(q["offset"]).sum() + norm.logpdf(q["beta"], 0.0, 1.0).sum()
        intercept = q["mu"] + jnp.exp(q["log_tau"]) * q["offset"]
        logits = intercept[self.ward] + x @ q["beta"]
        y = jnp.asarray(self.recovered)
        likelihood = y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits)
        return prior + likelihood.sum()


class HMC:
    def __init__(self, model, step_size=0.12, n_leapfrog=5, seed=0):
        self.model = model
        self.step_size = step_size
        self.n_leapfrog = n_leapfrog
        self.key = jax.random.PRNGKey(seed)
        self.accepted = 0

    def next_key(self):
        self.key, sub = jax.random.split(self.key)
        return sub

    def kick(self, p, q, eps):
        grads = jax.grad(self.model.log_density)(q)
        return jax.tree.map(lambda a, g: a + eps * g, p, grads)

    def drift(self, q, p, eps):
        return jax.tree.map(lambda a, b: a + eps * b, q, p)

    def energy(self, q, p):
        kinetic = sum(0.5 * (leaf ** 2).sum() for leaf in jax.tree.leaves(p))
        return kinetic - self.model.log_density(q)

    def momentum(self, q):
        leaves, treedef = jax.tree.flatten(q)
        keys = jax.random.split(self.next_key(), len(leaves))
        return jax.tree.unflatten(treedef, [jax.random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves)])

    def transition(self, q):
        p = self.momentum(q)
        before = self.energy(q, p)
        q_new = q
        p = self.kick(p, q_new, 0.5 * self.step_size)
        for i in range(self.n_leapfrog):
            q_new = self.drift(q_new, p, self.step_size)
            last = i == self.n_leapfrog - 1
            p = self.kick(p, q_new, (0.5 if last else 1.0) * self.step_size)
        log_ratio = before - self.energy(q_new, p)
        if jnp.log(jax.random.uniform(self.next_key())) < log_ratio:
            self.accepted += 1
            return q_new
        return q

    def run(self, n_samples, burn_in):
        q = self.model.initial()
        samples = []
        for i in range(n_samples + burn_in):
            q = self.transition(q)
            if i >= burn_in:
                samples.append(q)
        return {name: jnp.stack([s[name] for s in samples]) for name in q}


def autocorrelation_time(chain, max_lag=20):
    """Integrated autocorrelation time of one scalar chain."""
    chain = chain - chain.mean()
    total = 1.0
    for lag in range(1, max_lag):
        rho = jnp.mean(chain[:-lag] * chain[lag:]) / jnp.mean(chain ** 2)
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
    print(f"spread of wards: {float(jnp.exp(samples['log_tau']).mean()):.2f}")
    probabilities = [jax.nn.sigmoid(samples["mu"][i] + jnp.exp(samples["log_tau"][i]) * samples["offset"][i])
                     for i in range(n_samples)]
    per_ward = jnp.stack(probabilities).mean(axis=0)
    print("best ward:", int(per_ward.argmax()), f"{float(per_ward.max()):.2f}")


if __name__ == "__main__":
    main()
