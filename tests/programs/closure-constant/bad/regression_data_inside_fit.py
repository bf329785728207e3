# source: jax-ml/jax#16278
# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize


def fit_logistic(features, labels, l2=1e-3):
    @jax.jit
    def objective(w):
        margin = labels * (features @ w)  # finding
        return jnp.mean(jnp.logaddexp(0.0, -margin)) + l2 * jnp.sum(w**2)

    gradient = jax.jit(jax.grad(objective))
    result = minimize(
        lambda w: float(objective(w)),
        np.zeros(features.shape[1]),
        jac=lambda w: np.asarray(gradient(w), dtype=np.float64),
        options={"maxiter": 3},
    )
    return result.x


def main():
    rng = np.random.default_rng(0)
    features = jnp.asarray(rng.normal(size=(50_000, 40)))
    labels = jnp.sign(features[:, 0])
    print(fit_logistic(features, labels)[:3])


if __name__ == "__main__":
    main()
