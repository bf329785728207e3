# source: jax-ml/jax#3058
# blind: sixth

"""Group lasso by subgradients."""
import jax
import jax.numpy as jnp


def objective(w, x, y, lam):
    fit = 0.5 * jnp.mean((x @ w.reshape(-1) - y) ** 2)
    penalty = jnp.sum(jnp.linalg.norm(w, axis=1))  # finding
    return fit + lam * penalty


@jax.jit
def step(w, x, y, lam, lr):
    value, grad = jax.value_and_grad(objective)(w, x, y, lam)
    return w - lr * grad, value


def main():
    x = jax.random.normal(jax.random.key(0), (32, 12))
    y = x[:, 0] - x[:, 1]
    w = jnp.zeros((4, 3))
    for _ in range(20):
        w, value = step(w, x, y, 0.1, 0.05)
    print(value, w)


if __name__ == "__main__":
    main()
