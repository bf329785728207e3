"""Gibbs sampler (Albert and Chib) for a probit regression with school-level effects."""
import logging
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr, ndtri

logging.basicConfig(level=logging.WARNING)
log = logging.getLogger("gibbs")

N_SCHOOLS = 6
N_FEATURES = 4
PRIOR_VAR = 4.0
SHAPE0, RATE0 = 2.0, 1.0


def simulate(seed, per_school=40):
    rng = np.random.default_rng(seed)
    beta = np.array([0.4, -0.8, 0.5, 0.0])
    effects = rng.normal(0.0, 0.7, N_SCHOOLS)
    groups = []
    for s in range(N_SCHOOLS):
        x = np.column_stack([np.ones(per_school), rng.normal(size=(per_school, N_FEATURES - 1))])
        y = x @ beta + effects[s] + rng.normal(size=per_school) > 0
        groups.append({"x": x, "y": y.astype(np.float64)})
    return groups


@jax.jit
def truncated_normal(key, mean, y):
    """A unit-variance normal at mean, kept positive where y is 1 and negative where it is 0."""
    u = jax.random.uniform(key, mean.shape, minval=1e-5, maxval=1.0 - 1e-5)
    p0 = ndtr(-mean)
    p = jnp.where(y > 0.5, p0 + u * (1.0 - p0), u * p0)
    return mean + ndtri(jnp.clip(p, 1e-6, 1.0 - 1e-6))


class ProbitGibbs:
    def __init__(self, groups):
        self.xs = [jnp.array(g["x"]) for g in groups]
        self.ys = [jnp.array(g["y"]) for g in groups]
        self.x_all = jnp.concatenate(self.xs)

    def start(self, key):
        return {
            "beta": 0.1 * jax.random.normal(key, (N_FEATURES,)),
            "effects": jnp.zeros(N_SCHOOLS),
            "var": jnp.array(1.0),
        }

    def draw_latents(self, key, state):
        keys = jax.random.split(key, N_SCHOOLS)
        zs = []
        for s in range(N_SCHOOLS):
            mean = self.xs[s] @ state["beta"] + state["effects"][s]
            zs.append(truncated_normal(keys[s], mean, self.ys[s]))
        return zs

    def draw_beta(self, key, zs, state):
        residual = jnp.concatenate([z - state["effects"][s] for s, z in enumerate(zs)])
        precision = self.x_all.T @ self.x_all + jnp.eye(N_FEATURES) / PRIOR_VAR
        chol = jnp.linalg.cholesky(precision)
        mean = jax.scipy.linalg.cho_solve((chol, True), self.x_all.T @ residual)
        eps = jax.random.normal(key, (N_FEATURES,))
        return mean + jax.scipy.linalg.solve_triangular(chol.T, eps, lower=False)

    def draw_effects(self, key, zs, beta, var):
        effects = []
        for s in range(N_SCHOOLS):
            key, sub = jax.random.split(key)
            residual = zs[s] - self.xs[s] @ beta
            precision = len(residual) + 1.0 / var
            effects.append(residual.sum() / precision + jax.random.normal(sub) / jnp.sqrt(precision))
        return jnp.array(effects)

    def draw_var(self, key, effects):
        shape = SHAPE0 + 0.5 * N_SCHOOLS
        rate = RATE0 + 0.5 * jnp.sum(effects**2)
        return rate / jax.random.gamma(key, shape)

    def log_likelihood(self, state):
        total = 0.0
        for x, y, effect in zip(self.xs, self.ys, state["effects"]):
            p = jnp.clip(ndtr(x @ state["beta"] + effect), 1e-6, 1.0 - 1e-6)
            total += jnp.sum(y * jnp.log(p) + (1.0 - y) * jnp.log(1.0 - p))
        return float(total)

    def sweep(self, key, state):
        k_z, k_beta, k_eff, k_var = jax.random.split(key, 4)
        zs = self.draw_latents(k_z, state)
        beta = self.draw_beta(k_beta, zs, state)
        effects = self.draw_effects(k_eff, zs, beta, state["var"])
        return {"beta": beta, "effects": effects, "var": self.draw_var(k_var, effects)}

    def run(self, key, n_iter, burn):
        key, sub = jax.random.split(key)
        state = self.start(sub)
        draws, lls = [], []
        began = time.time()
        for i in range(n_iter):
            key, sub = jax.random.split(key)
            state = self.sweep(sub, state)
            lls.append(self.log_likelihood(state))
            if i >= burn:
                draws.append(state)
        log.info("chain took %.1f s", time.time() - began)
        return {k: np.array([d[k] for d in draws]) for k in state}, lls


def r_hat(chains):
    chains = np.asarray(chains)
    within = chains.var(axis=1, ddof=1).mean(0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt((chains.shape[1] - 1) / chains.shape[1] + between / within)


def predictive(chain, x_new, school):
    probs = [ndtr(x_new @ b + e[school]) for b, e in zip(chain["beta"], chain["effects"])]
    return jnp.stack(probs).mean(0)


def main():
    sampler = ProbitGibbs(simulate(seed=9))
    chains, lls = [], []
    for c in range(2):
        chain, ll = sampler.run(jax.random.PRNGKey(c), n_iter=450, burn=50)
        chains.append(chain)
        lls.append(ll)
    beta = np.concatenate([c["beta"] for c in chains])
    print("beta", np.round(beta.mean(0).astype(float), 2).tolist(), "sd", np.round(beta.std(0).astype(float), 2).tolist())
    print("school effects", np.round(np.concatenate([c["effects"] for c in chains]).mean(0).astype(float), 2).tolist())
    print(f"school variance {np.concatenate([c['var'] for c in chains]).mean():.2f}")
    print(f"log likelihood {np.mean([ll[50:] for ll in lls]):.2f} worst r-hat {r_hat([c['beta'] for c in chains]).max():.2f}")
    x_new = np.array([[1.0, 0.5, 0.5, 0.0], [1.0, -1.0, 0.0, 1.0]])
    for school in (0, 3):
        p = np.mean([predictive(c, x_new, school) for c in chains], axis=0)
        print(f"school {school}: pass probabilities {np.round(p.astype(float), 2).tolist()}")


if __name__ == "__main__":
    main()
