# source: jax-ml/jax#16956

import gc

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def fit_one(x, y):
    def body(w, _):
        grad = x.T @ (x @ w - y) / x.shape[0]
        return w - 0.1 * grad, None

    w, _ = jax.lax.scan(body, jnp.zeros(x.shape[1]), None, length=50)
    return w


def release_memory():
    jax.clear_caches()  # finding-also
    gc.collect()


def fit_subjects(subjects):
    weights = {}
    for name, (x, y) in subjects.items():
        weights[name] = fit_one(x, y)
        release_memory()  # finding
    return weights


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    subjects = {f"s{i}": (rng.normal(size=(20, 3)), rng.normal(size=20)) for i in range(5)}
    print(fit_subjects(subjects)["s0"])
