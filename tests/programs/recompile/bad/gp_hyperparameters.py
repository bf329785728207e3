# source: jax-ml/jax#19570
# blind: nineteenth

import time

import jax
import jax.numpy as jnp
import jax.scipy as jsp


class GaussianProcess:
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.params = {"log_len": jnp.zeros(x.shape[1]), "log_amp": jnp.float32(0.0), "log_noise": jnp.float32(-2.0)}

    def gram(self, params, a, b):
        a, b = a / jnp.exp(params["log_len"]), b / jnp.exp(params["log_len"])
        d2 = jnp.sum((a[:, None] - b[None]) ** 2, axis=-1)
        return jnp.exp(2.0 * params["log_amp"] - 0.5 * d2)

    def negative_log_marginal(self, params):
        n = self.x.shape[0]
        k = self.gram(params, self.x, self.x) + (jnp.exp(2.0 * params["log_noise"]) + 1e-5) * jnp.eye(n)
        chol = jnp.linalg.cholesky(k)
        alpha = jsp.linalg.cho_solve((chol, True), self.y)
        return 0.5 * self.y @ alpha + jnp.sum(jnp.log(jnp.diag(chol)))

    def optimise_step(self, lr):
        objective = jax.jit(jax.value_and_grad(self.negative_log_marginal))  # finding
        value, grads = objective(self.params)  # finding-also
        self.params = jax.tree.map(lambda p, g: p - lr * g, self.params, grads)
        return value

    def predict(self, x_new):
        n = self.x.shape[0]
        k = self.gram(self.params, self.x, self.x) + jnp.exp(2.0 * self.params["log_noise"]) * jnp.eye(n)
        return self.gram(self.params, x_new, self.x) @ jnp.linalg.solve(k, self.y)


def main():
    k_x, k_n = jax.random.split(jax.random.key(0))
    x = jax.random.uniform(k_x, (64, 2), minval=-2.0, maxval=2.0)
    y = jnp.sin(2.0 * x[:, 0]) + 0.1 * jax.random.normal(k_n, (64,))
    gp = GaussianProcess(x, y)
    start = time.perf_counter()
    for _ in range(8):
        value = gp.optimise_step(5e-3)  # finding-also
    print("nll", float(value), "length scales", jnp.exp(gp.params["log_len"]).tolist())
    print("seconds", round(time.perf_counter() - start, 2))


if __name__ == "__main__":
    main()
