"""Gibbs sampler (Albert and Chib) for a probit regression with school-level effects."""
import logging
import time
from functools import partial

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


def truncated_normal(key, mean, y):
    """A unit-variance normal at mean, kept positive where y is 1 and negative where it is 0."""
    u = jax.random.uniform(key, mean.shape, minval=1e-5, maxval=1.0 - 1e-5)
    p0 = ndtr(-mean)
    p = jnp.where(y > 0.5, p0 + u * (1.0 - p0), u * p0)
    return mean + ndtri(jnp.clip(p, 1e-6, 1.0 - 1e-6))


class ProbitGibbs:
    def __init__(self, groups):
        self.x = np.stack([g["x"] for g in groups]).astype(np.float32)
        self.y = np.stack([g["y"] for g in groups]).astype(np.float32)
        x_all = self.x.reshape(-1, N_FEATURES)
        precision = x_all.T @ x_all + np.eye(N_FEATURES, dtype=np.float32) / PRIOR_VAR
        self.chol = np.linalg.cholesky(precision)

    def start(self, key):
        return {
            "beta": 0.1 * jax.random.normal(key, (N_FEATURES,)),
            "effects": jnp.zeros(N_SCHOOLS),
            "var": jnp.array(1.0),
        }

    def draw_latents(self, key, state):
        keys = jax.random.split(key, N_SCHOOLS)
        mean = self.x @ state["beta"] + state["effects"][:, None]
        return jax.vmap(truncated_normal)(keys, mean, self.y)

    def draw_beta(self, key, z, state):
        residual = z - state["effects"][:, None]
        mean = jax.scipy.linalg.cho_solve((self.chol, True), jnp.einsum("snf,sn->f", self.x, residual))
        eps = jax.random.normal(key, (N_FEATURES,))
        return mean + jax.scipy.linalg.solve_triangular(self.chol.T, eps, lower=False)

    def draw_effects(self, key, z, beta, var):
        subs = []
        for _ in range(N_SCHOOLS):
            key, sub = jax.random.split(key)
            subs.append(sub)
        residual = z - self.x @ beta
        precision = residual.shape[1] + 1.0 / var
        eps = jax.vmap(jax.random.normal)(jnp.stack(subs))
        return residual.sum(1) / precision + eps / jnp.sqrt(precision)

    def draw_var(self, key, effects):
        shape = SHAPE0 + 0.5 * N_SCHOOLS
        rate = RATE0 + 0.5 * jnp.sum(effects**2)
        return rate / jax.random.gamma(key, shape)

    def log_likelihood(self, state):
        p = jnp.clip(ndtr(self.x @ state["beta"] + state["effects"][:, None]), 1e-6, 1.0 - 1e-6)
        return jnp.sum(self.y * jnp.log(p) + (1.0 - self.y) * jnp.log(1.0 - p))

    def sweep(self, key, state):
        k_z, k_beta, k_eff, k_var = jax.random.split(key, 4)
        zs = self.draw_latents(k_z, state)
        beta = self.draw_beta(k_beta, zs, state)
        effects = self.draw_effects(k_eff, zs, beta, state["var"])
        return {"beta": beta, "effects": effects, "var": self.draw_var(k_var, effects)}

    @partial(jax.jit, static_argnums=(0, 2))
    def _chains(self, keys, n_iter):
        def step(carry, _):
            key, state = carry
            key, sub = jax.random.split(key)
            state = self.sweep(sub, state)
            return (key, state), (state, self.log_likelihood(state))

        def chain(key):
            key, sub = jax.random.split(key)
            return jax.lax.scan(step, (key, self.start(sub)), None, length=n_iter)[1]

        return jax.lax.map(chain, keys)

    def run(self, keys, n_iter, burn):
        began = time.time()
        draws, lls = jax.device_get(self._chains(keys, n_iter))
        log.info("chains took %.1f s", time.time() - began)
        return [{k: v[c, burn:] for k, v in draws.items()} for c in range(len(keys))], lls


def r_hat(chains):
    chains = np.asarray(chains)
    within = chains.var(axis=1, ddof=1).mean(0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt((chains.shape[1] - 1) / chains.shape[1] + between / within)


def predictive(chain, x_new, school):
    return _predictive(chain["beta"], chain["effects"][:, school], x_new.astype(np.float32))


@jax.jit
def _predictive(beta, effect, x_new):
    return ndtr(beta @ x_new.T + effect[:, None]).mean(0)


def main():
    sampler = ProbitGibbs(simulate(seed=9))
    keys = jnp.stack([jax.random.PRNGKey(c) for c in range(2)])
    chains, lls = sampler.run(keys, n_iter=450, burn=50)
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
