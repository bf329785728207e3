"""Bayesian logistic regression with Hamiltonian Monte Carlo."""
import jax
import jax.numpy as jnp
import numpy as np


def make_dataset(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0] = 1.0
    true_w = rng.normal(size=d)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-X @ true_w))).astype(float)
    return X, y, true_w


class LogisticRegression:
    def __init__(self, X, y, prior_scale=2.0):
        self.X = X
        self.y = y
        self.prior_scale = prior_scale

    def log_prob(self, w):
        logits = jnp.dot(self.X, w)
        loglik = jnp.sum(self.y * jax.nn.log_sigmoid(logits)
                         + (1 - self.y) * jax.nn.log_sigmoid(-logits))
        prior = -0.5 * jnp.sum((w / self.prior_scale) ** 2)
        return loglik + prior


class HMC:
    def __init__(self, model, step_size=0.04, n_leapfrog=12):
        self.model = model
        self.step_size = step_size
        self.n_leapfrog = n_leapfrog
        self.log_prob = jax.jit(model.log_prob)
        self.grad = jax.jit(jax.grad(model.log_prob))

    def leapfrog(self, w, p):
        p = p + 0.5 * self.step_size * self.grad(w)
        for i in range(self.n_leapfrog):
            w = w + self.step_size * p
            if i < self.n_leapfrog - 1:
                p = p + self.step_size * self.grad(w)
        p = p + 0.5 * self.step_size * self.grad(w)
        return w, p

    def energy(self, w, p):
        return -self.log_prob(w) + 0.5 * jnp.sum(p ** 2)

    def step(self, key, w):
        k1, k2 = jax.random.split(key)
        p = jax.random.normal(k1, w.shape)
        w_new, p_new = self.leapfrog(w, p)
        log_accept = self.energy(w, p) - self.energy(w_new, p_new)
        if jnp.log(jax.random.uniform(k2)) < log_accept:
            return w_new, True
        return w, False


def run_chain(sampler, key, w0, n_samples, warmup):
    samples, accepted = [], 0
    w = w0
    for i in range(n_samples + warmup):
        key, sub = jax.random.split(key)
        w, ok = sampler.step(sub, w)
        accepted += ok
        if i >= warmup:
            samples.append(w)
        if (i + 1) % 250 == 0:
            print(f"  {i + 1} accept {accepted / (i + 1):.2f} logp {sampler.log_prob(w):.0f}")
    return jnp.stack(samples)


def rhat(chains):
    n = chains.shape[1]
    means = chains.mean(axis=1)
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = n * means.var(axis=0, ddof=1)
    return jnp.sqrt(((n - 1) / n * within + between / n) / within)


def main():
    X, y, true_w = make_dataset()
    sampler = HMC(LogisticRegression(X, y))
    chains = []
    for c in range(3):
        print(f"chain {c}")
        key, init_key = jax.random.split(jax.random.PRNGKey(c))
        w0 = 0.5 * jax.random.normal(init_key, (X.shape[1],))
        chains.append(run_chain(sampler, key, w0, n_samples=900, warmup=100))
    chains = jnp.stack(chains)
    mean = np.asarray(chains.mean(axis=(0, 1)))
    print("posterior mean", np.round(mean, 1))
    print(f"max rhat {float(rhat(chains).max()):.2f}")


if __name__ == "__main__":
    main()
