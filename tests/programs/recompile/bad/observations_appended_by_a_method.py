# blind: seventeenth

"""Bayesian optimisation whose observations grow by one in each round."""
import jax
import jax.numpy as jnp


def rbf(a, b, scale=0.2):
    d = (a[:, None] - b[None, :]) / scale
    return jnp.exp(-0.5 * d**2)


@jax.jit
def posterior(xs, ys, grid, noise=1e-3):
    k = rbf(xs, xs) + noise * jnp.eye(xs.shape[0])
    ks = rbf(grid, xs)
    chol = jax.scipy.linalg.cho_factor(k, lower=True)
    mean = ks @ jax.scipy.linalg.cho_solve(chol, ys)
    v = jax.scipy.linalg.cho_solve(chol, ks.T)
    var = 1.0 - jnp.sum(ks * v.T, axis=1)
    return mean, jnp.sqrt(jnp.maximum(var, 1e-9))


class History:
    def __init__(self, x, y):
        self.xs = jnp.array([x])
        self.ys = jnp.array([y])

    def add(self, x, y):
        self.xs = jnp.append(self.xs, x)  # finding-also
        self.ys = jnp.append(self.ys, y)  # finding-also


def objective(x):
    return jnp.sin(9.0 * x) * x


def optimise(rounds=25):
    grid = jnp.linspace(0.0, 1.0, 200)
    history = History(0.5, float(objective(0.5)))
    for _ in range(rounds):
        mean, std = posterior(history.xs, history.ys, grid)  # finding
        x = grid[jnp.argmax(mean + 2.0 * std)]
        history.add(x, objective(x))  # finding-also
    return history.xs[jnp.argmax(history.ys)]


if __name__ == "__main__":
    print("best x", optimise())
    print("programs", posterior._cache_size())
