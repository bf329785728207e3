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
        self.sample = jax.jit(jax.vmap(self._sample, in_axes=(0, 0, None)), static_argnums=2)

    def leapfrog(self, w, p):
        grad = jax.grad(self.model.log_prob)

        def body(_, state):
            w, p = state
            w = w + self.step_size * p
            return w, p + self.step_size * grad(w)

        p = p + 0.5 * self.step_size * grad(w)
        w, p = jax.lax.fori_loop(0, self.n_leapfrog - 1, body, (w, p))
        w = w + self.step_size * p
        return w, p + 0.5 * self.step_size * grad(w)

    def energy(self, w, p):
        return -self.model.log_prob(w) + 0.5 * jnp.sum(p ** 2)

    def step(self, carry, _):
        key, w = carry
        key, sub = jax.random.split(key)
        k1, k2 = jax.random.split(sub)
        p = jax.random.normal(k1, w.shape)
        w_new, p_new = self.leapfrog(w, p)
        log_accept = self.energy(w, p) - self.energy(w_new, p_new)
        ok = jnp.log(jax.random.uniform(k2)) < log_accept
        w = jnp.where(ok, w_new, w)
        return (key, w), (w, ok)

    def _sample(self, key, w0, n):
        _, (samples, accepted) = jax.lax.scan(self.step, (key, w0), length=n)
        logp = jax.vmap(self.model.log_prob)(samples[249::250])
        return samples, jnp.cumsum(accepted)[249::250], logp


def rhat(chains):
    n = chains.shape[1]
    means = chains.mean(axis=1)
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = n * means.var(axis=0, ddof=1)
    return jnp.sqrt(((n - 1) / n * within + between / n) / within)


def main():
    X, y, true_w = make_dataset()
    X, y = jnp.asarray(X, jnp.float32), jnp.asarray(y, jnp.float32)
    sampler = HMC(LogisticRegression(X, y))
    keys, w0 = [], []
    for c in range(3):
        key, init_key = jax.random.split(jax.random.PRNGKey(c))
        keys.append(key)
        w0.append(0.5 * jax.random.normal(init_key, (X.shape[1],)))
    chains, accepted, logp = sampler.sample(jnp.stack(keys), jnp.stack(w0), 1000)
    accepted, logp = jax.device_get((accepted, logp))
    for c in range(3):
        print(f"chain {c}")
        for i in range(4):
            n = 250 * (i + 1)
            print(f"  {n} accept {accepted[c, i] / n:.2f} logp {logp[c, i]:.0f}")
    chains = chains[:, 100:]
    mean = np.asarray(chains.mean(axis=(0, 1)))
    print("posterior mean", np.round(mean, 1))
    print(f"max rhat {float(rhat(chains).max()):.2f}")


if __name__ == "__main__":
    main()
