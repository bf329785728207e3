# source: SharmaLlama/ticktack#19
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
import scipy.special


def softplus_inverse(y):
    return np.log(np.expm1(y))


@jax.jit
def neg_log_lik(theta, counts, exposure):
    rate = jax.nn.softplus(theta[0]) * exposure
    disp = jax.nn.softplus(theta[1])
    p = disp / (disp + rate)
    coef = jax.scipy.special.gammaln(counts + disp) - jax.scipy.special.gammaln(disp)
    return -jnp.sum(coef + disp * jnp.log(p) + counts * jnp.log1p(-p))


objective = jax.jit(jax.value_and_grad(neg_log_lik))


def fit(counts, exposure):
    def fun(theta):
        value, grad = objective(jnp.asarray(theta), counts, exposure)
        return float(value), np.asarray(grad, dtype=np.float64)

    start = softplus_inverse(np.array([1.0, 1.0]))
    result = scipy.optimize.minimize(fun, start, jac=True, method="L-BFGS-B")
    constant = scipy.special.gammaln(counts + 1).sum()
    return result.x, result.fun + constant


if __name__ == "__main__":
    counts = np.array([2.0, 0.0, 5.0, 3.0, 1.0], dtype=np.float32)
    print(fit(counts, np.ones(5, dtype=np.float32)))
